// SPDX-License-Identifier: GPL-2.0-or-later
// A domain's request: its <cloud-init> element, as virt-seed-xml(5) describes it.
//
// How it works: the element stays a DOM. build() changes a copy of it where a field differs from what was read, so
// that whatever the form does not know remains as it is: attributes, elements, comments, routes.

export const NS = "urn:virt-seed:cloud-init:1";

// A part of user-data that the form reads back. It has this form alone, so nobody needs to parse YAML; cloud-init
// adds its list to those of the other parts.
const packagesHead = "#cloud-config\n# Packages: written by virt-seed's page in Cockpit\n" +
    "merge_how: dict(recurse_list)+list(append)\npackages:\n";
const packageName = /^[A-Za-z0-9.+:=~/_-]+$/;
const packageLine = /^- "([A-Za-z0-9.+:=~/_-]+)"$/;

const children = (parent, name) => parent
    ? [...parent.children].filter(child => child.namespaceURI === NS && child.localName === name)
    : [];
const child = (parent, name) => children(parent, name)[0] ?? null;
const textOf = element => element ? element.textContent.trim() : "";
const words = text => text.split(/[\s,]+/).filter(word => word);

function descend(element, path) {
    return path.reduce((parent, name) => child(parent, name), element);
}

function add(parent, name, text = "") {
    const prefix = parent.prefix ? `${parent.prefix}:` : "";
    const element = parent.ownerDocument.createElementNS(NS, prefix + name);
    element.textContent = text;
    parent.append(element);
    return element;
}

// Sets the text of an element below another, which is made if need be. Without a text it goes, and so does a parent
// that is empty then.
function setText(root, path, text) {
    const parents = [root];
    for (const name of path) {
        const parent = parents.at(-1);
        const next = child(parent, name);
        if (!next && !text)
            return;
        parents.push(next ?? add(parent, name));
    }
    parents.at(-1).textContent = text;
    while (parents.length > 1) {
        const last = parents.pop();
        if (last.textContent.trim() || last.children.length || last.attributes.length)
            return;
        last.remove();
    }
}

/** What a document or a key refers to on the host, such as "the file 'site/base.yaml'", or null. */
export function reference(element) {
    if (element.hasAttribute("file"))
        return `the file '${element.getAttribute("file")}' of the host`;
    if (element.hasAttribute("secret")) {
        const key = element.getAttribute("key");
        return `the secret '${element.getAttribute("secret")}'${key ? `, key '${key}',` : ""} of the host`;
    }
    return null;
}

// virt-seed removes blank lines before the first line, and what precedes a closing tag on a line of its own. Findings
// count the former.
const blankLines = /^(?:[ \t\r]*\n)+/;
const countBlankLines = text => (blankLines.exec(text)?.[0] ?? "").split("\n").length - 1;
const trimDocument = text => text.replace(blankLines, "").replace(/\n[ \t]*$/, "\n");

/** A document in the element, if it is there: its text, or why it cannot be edited here. */
export function readDocument(element) {
    if (!element)
        return { element: null, text: "", fixed: null };
    const refers = reference(element);
    if (refers)
        return { element, text: "", fixed: `It is ${refers}, which is edited there.` };
    if (element.hasAttribute("encoding"))
        return { element, text: "", fixed: "It is encoded, and stays as it is." };
    return { element, text: trimDocument(element.textContent), fixed: null };
}

function readPackages(text) {
    if (!text.startsWith(packagesHead))
        return null;
    const lines = text.slice(packagesHead.length).split("\n").filter(line => line);
    const names = lines.map(line => packageLine.exec(line)?.[1]);
    return names.every(name => name) ? names : null;
}

const writePackages = names => names.length
    ? packagesHead + names.map(name => `- "${name}"\n`).join("")
    : "";

/** The first word of a text that cannot be the name of a package, or undefined. */
export const wrongPackage = text => words(text).find(name => !packageName.test(name));

const nameOfAlias = alias => alias.replace(/^ua-/, "");

function readInterfaces(domain) {
    return [...domain.querySelectorAll(":scope > devices > interface")].map(nic => {
        const get = (name, attribute) => nic.querySelector(`:scope > ${name}`)?.getAttribute(attribute) ?? "";
        const source = nic.querySelector(":scope > source");
        return {
            mac: get("mac", "address").toLowerCase(),
            alias: nameOfAlias(get("alias", "name")),
            place: source ? [...source.attributes].find(({ name }) => ["network", "bridge", "dev"].includes(name))?.value : "",
        };
    });
}

const namesInterface = (element, { mac, alias }) =>
    element.hasAttribute("mac")
        ? element.getAttribute("mac").toLowerCase() === mac
        : nameOfAlias(element.getAttribute("alias") ?? "") === alias && alias !== "";

const serialize = element => new XMLSerializer().serializeToString(element);

const nicFields = { address: "addresses", gateway: "gateways", nameserver: "nameservers", search: "searches" };

/** The request of a domain, from the XML of its definition. */
export class Request {
    constructor(xml) {
        const document = new DOMParser().parseFromString(xml, "application/xml");
        const domain = document.documentElement;
        if (document.querySelector("parsererror") || domain.localName !== "domain")
            throw new Error("the definition is not XML that this page can read");
        this.name = domain.querySelector(":scope > name")?.textContent ?? "";
        this.element = [...(domain.querySelector(":scope > metadata")?.children ?? [])]
                .find(element => element.namespaceURI === NS && element.localName === "cloud-init") ?? null;
        this.exists = this.element !== null;
        this.element ??= document.createElementNS(NS, "ci:cloud-init");
        this.interfaces = readInterfaces(domain);
        this.values = this.#read();
        this.source = serialize(this.element);
    }

    // The name may be in either of three elements; the form edits the one that is there.
    #hostPath() {
        const paths = [["hostname"], ["initialization", "host_name"], ["initialization", "host", "address"]];
        return paths.find(path => textOf(descend(this.element, path))) ?? paths[0];
    }

    #read() {
        const root = this.element;
        const keys = child(root, "ssh-authorized-keys");
        const network = child(root, "network-config");
        const parts = children(root, "user-data").map(readDocument);
        const packages = parts.find(part => readPackages(part.text)) ?? readDocument(null);
        packages.original = packages.text;
        let mode = "default";
        if (network)
            mode = network.getAttribute("from") === "interfaces" ? "interfaces" : "document";
        return {
            hostname: textOf(descend(root, this.#hostPath())),
            user: textOf(descend(root, ["initialization", "user_name"])),
            timezone: textOf(descend(root, ["initialization", "timezone"])),
            keys: children(keys, "key").filter(key => !reference(key)).map(textOf).join("\n"),
            packages: readPackages(packages.text)?.join(" ") ?? "",
            packagesPart: packages,
            mode,
            nics: this.interfaces.map(nic => this.#readNic(network, nic)),
            network: readDocument(mode === "document" ? network : null),
            userData: parts.filter(part => part !== packages),
            vendorData: readDocument(child(root, "vendor-data")),
        };
    }

    #readNic(network, nic) {
        const element = children(network, "interface").find(candidate => namesInterface(candidate, nic)) ?? null;
        const values = { element };
        for (const [name, field] of Object.entries(nicFields))
            values[field] = children(element, name).map(textOf).join(" ");
        return values;
    }

    /** Whether user-data is for a guest without cloud-init, which gets that alone. */
    get isRaw() {
        return children(this.element, "user-data").some(part => part.getAttribute("format") === "raw");
    }

    /** Whether <initialization> describes the network, which then must not be described elsewhere. */
    get hasOvirtNetwork() {
        const initialization = child(this.element, "initialization");
        return ["nic_configurations", "dns_servers", "dns_search", "network_configuration"]
                .some(name => child(initialization, name));
    }

    get hasPassword() {
        return this.element.getAttribute("password") === "stored";
    }

    /** Keys that are in files and secrets of the host. */
    get keyReferences() {
        const keys = child(this.element, "ssh-authorized-keys");
        return [keys, ...children(keys, "key")].filter(key => key).map(reference).filter(text => text);
    }

    /** What else the request has, which the form keeps: the names of attributes and elements. */
    get others() {
        const known = ["password", "hostname", "ssh-authorized-keys", "user-data", "vendor-data", "network-config",
            "initialization", "host_name", "host", "user_name", "timezone"];
        const elements = [this.element, child(this.element, "initialization")].flatMap(parent => [...parent?.children ?? []]);
        return [...[...this.element.attributes].map(({ name }) => name), ...elements.map(({ localName }) => localName)]
                .filter(name => !known.includes(name) && !name.startsWith("xmlns"));
    }

    /**
     * The element with these values, in XML. part.index of each document becomes its place among the elements of its
     * name, and part.offset how many lines it has before part.text: findings refer to that.
     */
    build(values) {
        const root = this.element.cloneNode(true);
        const copies = new Map([...this.element.children].map((element, i) => [element, root.children[i]]));
        const differs = name => values[name] !== this.values[name];
        if (differs("hostname"))
            setText(root, this.#hostPath(), values.hostname.trim());
        for (const [name, tag] of [["user", "user_name"], ["timezone", "timezone"]]) {
            if (differs(name))
                setText(root, ["initialization", tag], values[name].trim());
        }
        if (differs("keys"))
            this.#writeKeys(root, values.keys);
        this.#writeNetwork(root, values, copies);
        values.userData.forEach(part => this.#writePart(root, "user-data", part, copies));
        if (differs("packages"))
            values.packagesPart.text = writePackages(words(values.packages));
        this.#writePart(root, "user-data", values.packagesPart, copies);
        this.#writePart(root, "vendor-data", values.vendorData, copies);
        for (const part of [...values.userData, values.packagesPart, values.vendorData, values.network]) {
            part.index = part.made ? children(root, part.made.localName).indexOf(part.made) : -1;
            part.offset = countBlankLines(part.made?.textContent ?? "") - countBlankLines(part.text);
        }
        return serialize(root);
    }

    #writeKeys(root, text) {
        const keys = child(root, "ssh-authorized-keys") ?? add(root, "ssh-authorized-keys");
        children(keys, "key").filter(key => !reference(key)).forEach(key => key.remove());
        text.split("\n").map(line => line.trim()).filter(line => line && !line.startsWith("#"))
                .forEach(line => add(keys, "key", line));
        if (!keys.children.length && !reference(keys))
            keys.remove();
    }

    #writeNetwork(root, values, copies) {
        let element = child(root, "network-config");
        if (values.mode !== this.values.mode) {
            element?.remove();
            element = null;
        }
        if (values.mode === "document")
            this.#writePart(root, "network-config", values.network, copies);
        if (values.mode !== "interfaces")
            return;
        if (!element) {
            element = add(root, "network-config");
            element.setAttribute("from", "interfaces");
        }
        values.nics.forEach((nic, i) => this.#writeNic(element, nic, this.values.nics[i], this.interfaces[i]));
    }

    #writeNic(network, values, before, nic) {
        const fields = Object.entries(nicFields);
        let element = children(network, "interface").find(candidate => namesInterface(candidate, nic)) ?? null;
        if (element && fields.every(([, field]) => values[field] === before[field]))
            return;
        if (!element) {
            if (fields.every(([, field]) => !words(values[field]).length))
                return;
            element = add(network, "interface");
            element.setAttribute("mac", nic.mac);
        }
        for (const [name, field] of fields) {
            children(element, name).forEach(old => old.remove());
            words(values[field]).forEach(word => add(element, name, word));
        }
        if (!element.children.length && element.attributes.length === 1)
            element.remove();
    }

    // An empty document is removed.
    #writePart(root, name, part, copies) {
        const element = copies.get(part.element) ?? null;
        const isHere = element && element.parentNode === root;
        part.made = isHere ? element : null;
        if (part.fixed !== null || part.text === part.original)
            return;
        if (!part.text.trim()) {
            if (isHere)
                element.remove();
            part.made = null;
            return;
        }
        if (!isHere) {
            part.made = add(root, name);
            children(root, name).at(-2)?.after(part.made);
        }
        part.made.textContent = part.text;
    }
}
