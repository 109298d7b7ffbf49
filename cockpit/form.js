// SPDX-License-Identifier: GPL-2.0-or-later
// The form of one domain: fields and documents, what is wrong with them while one types, what saving would change, and
// saving. Nothing that was typed goes before it is saved or given up.
import { access, connection, Failure, jsonOf, output, virsh, virtSeed } from "./command.js";
import { $, ask, make, problem, show } from "./dom.js";
import { describe, Editor } from "./editor.js";
import { describePending } from "./preview.js";
import { readDocument, Request, wrongPackage } from "./request.js";

const checkMilliseconds = 600;
const simple = ["hostname", "user", "timezone", "keys", "packages"];
const nicLabels = {
    addresses: ["Addresses", "With the prefix, such as 192.0.2.10/24. Empty: by DHCP."],
    gateways: ["Gateway", "Such as 192.0.2.1."],
    nameservers: ["Name servers", "Such as 192.0.2.53."],
    searches: ["Search domains", "Such as example.org. They need a name server."],
};
const read = async uuid => new Request(await output(virsh("dumpxml", "--inactive", "--domain", uuid)));

export class Form {
    #timer = null;
    #generation = 0;
    #saving = false;

    /** onChange is called when there is something to save or no longer. */
    constructor(onChange) {
        this.onChange = onChange;
        this.request = null;
        this.saved = Promise.resolve();
        for (const id of [...simple, "password"])
            $(id).addEventListener("input", () => this.#typed());
        $("forget").addEventListener("change", () => this.#typed());
        $("modes").addEventListener("change", event => {
            this.values.mode = event.target.value;
            this.#showMode();
            this.#typed();
        });
        $("add-user-data").addEventListener("click", () => this.#addUserData().area.focus());
        $("form").addEventListener("submit", event => {
            event.preventDefault();
            this.save();
        });
        $("discard").addEventListener("click", () => {
            this.#reload().catch(failure => $("result").replaceChildren(problem(failure)));
        });
    }

    /** Reads the request of a domain into the form. */
    async load(uuid) {
        this.close();
        const mine = this.#generation;
        const request = await read(uuid);
        if (mine !== this.#generation)
            return;
        this.uuid = uuid;
        this.#fill(request);
        show($("form"), true);
        this.#check();
    }

    close() {
        this.#generation++;
        clearTimeout(this.#timer);
        this.request = null;
        this.uuid = null;
        $("password").value = "";
        $("result").replaceChildren();
        this.#forgetAnswer();
        show($("form"), false);
    }

    #fill(request) {
        const copyPart = part => ({ ...part });
        const { values } = request;
        this.request = request;
        this.values = {
            ...values, nics: values.nics.map(nic => ({ ...nic })), network: copyPart(values.network),
            userData: values.userData.map(copyPart), vendorData: copyPart(values.vendorData),
        };
        for (const name of simple) {
            $(name).value = values[name];
            // With the line ends that the text area makes.
            values[name] = this.values[name] = $(name).value;
        }
        $("keys").rows = Math.max(2, values.keys.split("\n").length + 1);
        $("key-references").textContent = request.keyReferences.length
            ? `More keys are in ${request.keyReferences.join(", in ")}, and stay.`
            : "";
        $("hostname-hint").textContent = `Such as web1.example.org. Empty: the domain's name, ${request.name}.`;
        this.#fillPassword();
        $("packages").disabled = request.isRaw;
        $("packages-hint").textContent = request.isRaw
            ? "The user-data is for a guest without cloud-init, which installs none."
            : "Separated by blanks, such as: nginx git. They become a document of their own next to the others.";
        this.#fillDocuments();
        this.#fillNetwork();
        $("others").textContent = request.others.length
            ? `The request also has ${request.others.join(", ")}; that stays as it is.`
            : "";
        $("result").replaceChildren();
        this.#saved = this.#state();
        this.#showDirty();
    }

    #saved = "";

    #fillPassword() {
        $("password").value = "";
        $("forget").checked = false;
        show($("forget-label"), this.request.hasPassword);
        $("password-hint").textContent = this.request.hasPassword
            ? "A password is stored. What you type here replaces it; nobody can read it again."
            : "For the console. The host stores only a hash of it. Empty: none.";
    }

    #fillDocuments() {
        this.editors = [];
        $("user-data").replaceChildren();
        this.values.userData.forEach(part => this.#addUserData(part));
        if (!this.values.userData.length)
            this.#addUserData();
        this.vendorEditor = new Editor(this.values.vendorData, "vendor-data", "vendor-data",
                                       "Defaults, which user-data overrides.", () => this.#typed());
        $("vendor-data").replaceChildren(this.vendorEditor.element);
    }

    #addUserData(part = null) {
        const document = part ?? readDocument(null);
        const number = this.editors.length + 1;
        if (!part)
            this.values.userData.push(document);
        const editor = new Editor(document, "user-data", number === 1 ? "user-data" : `user-data, document ${number}`,
                                  "What cloud-init does: begins with #cloud-config, or is a script. Empty: none.",
                                  () => this.#typed());
        this.editors.push(editor);
        $("user-data").append(editor.element);
        return editor;
    }

    #fillNetwork() {
        const { request, values } = this;
        show($("network-note"), request.hasOvirtNetwork);
        $("network").disabled = request.hasOvirtNetwork;
        for (const radio of $("modes").querySelectorAll("input"))
            radio.checked = radio.value === values.mode;
        $("nics").replaceChildren(...values.nics.map((nic, i) => this.#makeNic(nic, request.interfaces[i], i)));
        if (!values.nics.length)
            $("nics").append(make("p", { class: "hint" }, "The domain has no network interface."));
        this.networkEditor = new Editor(values.network, "network-config", "network-config",
                                        "In version 1 or 2 of cloud-init's format.", () => this.#typed());
        $("network-document").replaceChildren(this.networkEditor.element);
        this.#showMode();
    }

    #makeNic(values, nic, number) {
        const title = `Interface ${nic.mac}${nic.place ? ` in ${nic.place}` : ""}`;
        const group = make("div", { class: "nic fields", role: "group", "aria-label": title }, make("h3", {}, title));
        for (const [field, [label, hint]] of Object.entries(nicLabels)) {
            const id = `nic-${number}-${field}`;
            const input = make("input", { id, value: values[field], spellcheck: false, "aria-describedby": `${id}-hint` });
            input.addEventListener("input", () => {
                values[field] = input.value;
                this.#typed();
            });
            group.append(make("div", {}, make("label", { for: id }, label),
                              make("p", { id: `${id}-hint`, class: "hint" }, hint), input));
        }
        return group;
    }

    #showMode() {
        show($("nics"), this.values.mode === "interfaces");
        show($("network-document"), this.values.mode === "document");
    }

    // All that can be typed, to tell whether something was.
    #state() {
        const { mode, nics, userData, vendorData, network } = this.values;
        return JSON.stringify([simple.map(id => $(id).value), mode, nics.map(({ element, ...fields }) => fields),
            userData.map(part => part.text).filter(text => text), vendorData.text, network.text,
            $("password").value, $("forget").checked]);
    }

    get dirty() {
        return this.request !== null && this.#state() !== this.#saved;
    }

    #typed() {
        for (const id of simple)
            this.values[id] = $(id).value;
        $("result").replaceChildren();
        this.#showDirty();
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#check(), checkMilliseconds);
    }

    #showDirty() {
        $("dirty").textContent = this.dirty ? "You have unsaved changes." : "";
        $("discard").disabled = !this.dirty || this.#saving;
        $("save").disabled = this.#saving || !this.mayChange || !this.dirty;
        this.onChange();
    }

    get mayChange() {
        return connection.scope === "session" || access.admin;
    }

    /** Shows what the user may do, after that has changed. */
    accessChanged() {
        if (this.request)
            this.#typed();
    }

    #forgetAnswer() {
        $("checking").textContent = "";
        document.querySelectorAll("[data-part]").forEach(field => this.#markField(field, []));
        $("findings").replaceChildren();
        $("pending").replaceChildren();
    }

    #set(...options) {
        return virtSeed("set", "--json", "--element=-", ...options, this.uuid);
    }

    // One check at a time, of what is typed now.
    async #check() {
        const mine = ++this.#generation;
        clearTimeout(this.#timer);
        $("checking").textContent = "Checking …";
        try {
            const answer = await jsonOf(this.#set("--dry-run"), { input: this.request.build(this.values) });
            if (mine === this.#generation)
                this.#showAnswer(answer);
        } catch (failure) {
            if (mine !== this.#generation)
                return;
            this.#forgetAnswer();
            $("pending").replaceChildren(problem(failure));
        }
    }

    #showAnswer(answer) {
        const findings = answer.findings ?? [];
        const errors = findings.filter(({ severity }) => severity === "error").length;
        const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
        this.#showFindings(findings);
        $("checking").textContent = findings.length
            ? `${count(errors, "error")}, ${count(findings.length - errors, "warning")}.`
            : "No problems found.";
        $("pending").replaceChildren(...describePending(answer.pending, answer.changes ?? []));
        if (answer.message && !errors)
            $("pending").prepend(problem(answer));
    }

    // Each finding is next to its document or field; the others are in the list.
    #showFindings(findings) {
        const found = new Map();
        for (const finding of findings) {
            const place = this.#placeOf(finding);
            found.set(place, [...found.get(place) ?? [], finding]);
        }
        for (const editor of this.#allEditors)
            editor.mark(found.get(editor) ?? []);
        for (const field of document.querySelectorAll("[data-part]"))
            this.#markField(field, found.get(field) ?? []);
        $("findings").replaceChildren(...(found.get(null) ?? []).map(describe));
    }

    // The field's input, or the group itself, names the list in its aria-describedby.
    #markField(field, findings) {
        const input = field.id ? field : field.querySelector("[aria-describedby]");
        field.querySelector(":scope > .findings")?.remove();
        input.setAttribute("aria-invalid", String(findings.some(({ severity }) => severity === "error")));
        if (findings.length)
            field.append(make("ul", { id: `${input.id}-findings`, class: "findings", "aria-live": "polite" },
                              ...findings.map(describe)));
    }

    get #allEditors() {
        return [...this.editors, this.vendorEditor, this.networkEditor];
    }

    // What is in no document has no part, but its message begins with the element.
    #placeOf(finding) {
        const name = finding.part ?? /^<([a-z_-]+)>/.exec(finding.message)?.[1];
        const index = finding["part-index"] ?? 0;
        const isPackages = name === "user-data" && index === this.values.packagesPart.index;
        const editor = this.#allEditors.find(({ name: own, part }) => own === name && part.index === index);
        return isPackages ? $("packages").parentElement : editor ?? document.querySelector(`[data-part~="${name}"]`);
    }

    /** Saves the request and then the password. What is not saved stays in the form. `saved` is when that is over. */
    save() {
        if (!this.#saving && this.dirty)
            this.saved = this.#save();
    }

    async #save() {
        const wrong = wrongPackage($("packages").value);
        this.#saving = true;
        this.#generation++;
        this.#showDirty();
        $("form").inert = true;
        $("result").replaceChildren("Saving …");
        try {
            if (wrong)
                throw new Failure(`'${wrong}' cannot be the name of a package`, "correct it; your changes are still here");
            await this.#saveElement();
            await this.#savePassword();
            const go = () => ($("start").disabled ? $("apply") : $("start")).focus();
            $("result").replaceChildren(make("p", { class: "done" }, "Saved. It takes effect at the next start, or with “Apply now”. ",
                                             make("button", { type: "button", class: "link", onclick: go }, "Go there")));
        } catch (failure) {
            this.#check();
            $("result").replaceChildren(problem(failure));
        }
        $("form").inert = false;
        this.#saving = false;
        this.#showDirty();
        $("result").focus();
    }

    async #saveElement() {
        const element = this.request.build(this.values);
        const typed = [$("password").value, $("forget").checked];
        if (element === this.request.source)
            return;
        const isCurrent = (await read(this.uuid)).source === this.request.source;
        if (!isCurrent && !await ask("The request has changed meanwhile", [make("p", {},
            "Somebody has changed it since you opened this form. If you save, what they have written is replaced.")],
            "Save mine", "Keep editing"))
            throw new Failure("nothing was saved: the definition has changed meanwhile", "your changes are still here");
        const answer = await jsonOf(this.#set(), { change: true, input: element });
        if (!answer.defined) {
            throw new Failure(answer.message ?? "nothing was saved, because there are errors",
                              answer.hint ?? "correct them; your changes are still here");
        }
        await this.#reload();
        [$("password").value, $("forget").checked] = typed;
    }

    async #savePassword() {
        const password = $("password").value;
        if (password)
            await output(virtSeed("set", "--password-file=-", this.uuid), { change: true, input: `${password}\n` });
        else if ($("forget").checked)
            await output(virtSeed("set", "--password-file=", this.uuid), { change: true });
        else
            return;
        await this.#reload();
    }

    async #reload() {
        const { uuid } = this;
        const request = await read(uuid);
        if (uuid === this.uuid) {
            this.#fill(request);
            this.#check();
        }
    }

    /** Reads the request again if somebody else has changed it and nothing was typed. */
    async refresh() {
        const { uuid } = this;
        const request = this.request && await read(uuid);
        if (!request || uuid !== this.uuid || this.dirty || this.#saving || request.source === this.request.source)
            return;
        this.#fill(request);
        this.#check();
    }
}
