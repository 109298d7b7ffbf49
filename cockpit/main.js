// SPDX-License-Identifier: GPL-2.0-or-later
// The page: which view it shows, the list of domains, and the buttons of one domain.
/* global cockpit */
import { connection, events, output, run, virtSeed, watchAccess } from "./command.js";
import { $, ask, followStyle, make, problem, show } from "./dom.js";
import { Form } from "./form.js";
import { Progress, summary } from "./progress.js";
import { domainOf, followStatus, refreshStatus, restartStatus, status } from "./status.js";

const progress = new Progress();
const form = new Form(() => showButtons());
// The events of each guest since its last boot began.
const reported = new Map();
let shown = null; // the UUID of the domain that is shown
let shownPath = null;
let listed = null; // what the rows of the list were made from
let command = null; // what a button has begun, until it ends
let navigation = Promise.resolve();

function setUp(domain) {
    if (!domain.result)
        return "";
    const words = reported.get(domain.uuid)?.map(summary).findLast(text => text);
    if (domain.state === "running" && words && ["none", "running"].includes(domain.result))
        return `running: ${words}`;
    return domain.stage && domain.result === "running" ? `running: ${domain.stage}` : domain.result;
}

function time(since) {
    const date = new Date(since ?? NaN);
    return Number.isNaN(date.getTime()) ? "" : date.toLocaleString();
}

function showList() {
    const { domains, failure, loaded } = status;
    const cell = (label, text, name = "") => make("td", { "data-label": label, class: name }, text ?? "");
    show($("domains"), domains.length > 0);
    const none = failure ? "" : `There are no domains at ${connection.uri}. virt-seed new makes one, for example.`;
    const found = domains.length ? "" : none;
    $("list-state").textContent = loaded ? found : "Reading the domains …";
    const content = JSON.stringify(domains.map(domain => [domain, setUp(domain)]));
    if (content === listed)
        return;
    listed = content;
    const focused = document.activeElement?.dataset?.uuid;
    $("rows").replaceChildren(...domains.map(domain => make("tr", {},
        make("td", {}, make("a", {
            href: `#/${connection.scope}/${domain.uuid}`, "data-uuid": domain.uuid,
        }, domain.domain)),
        cell("State", domain.state), cell("cloud-init", setUp(domain), domain.result ?? ""),
        cell("Since", time(domain.since)), cell("Address", domain.address), cell("Guest says", domain["guest-says"]?.seed))));
    if (focused)
        $("rows").querySelector(`[data-uuid="${focused}"]`)?.focus();
}

function showDomain() {
    const domain = domainOf(shown);
    if (!domain) {
        $("state").textContent = status.loaded && !status.failure ? "There is no such domain any more." : "";
        showButtons();
        return;
    }
    const words = [
        domain.state,
        setUp(domain) && `cloud-init: ${setUp(domain)}`,
        domain.address && `address ${domain.address}`,
        domain["guest-says"]?.seed && `the guest says: ${domain["guest-says"].seed}`,
        ...(domain.errors ?? []).map(error => `error: ${error}`),
        domain.message,
    ].filter(word => word);
    $("name").textContent = domain.domain;
    if ($("state").textContent !== words.join("; "))
        $("state").textContent = words.join("; ");
    showButtons();
}

// Why nothing can be done with the domain now, or null.
function obstacle() {
    if (!form.mayChange)
        return "You have limited access, so you cannot change this domain: turn on administrative access.";
    if (command)
        return "A command is still running.";
    if (form.dirty)
        return "You have unsaved changes: save or discard them first.";
    if (form.request && !form.request.exists)
        return "The domain asks for no seed yet: fill in the form and save it first.";
    return null;
}

function showButtons() {
    const domain = domainOf(shown);
    const why = obstacle();
    const active = ["running", "paused"].includes(domain?.state);
    const usable = domain !== undefined && why === null;
    $("start").disabled = !usable || active;
    $("apply").disabled = !usable;
    $("update").disabled = !usable || !active;
    $("logs").disabled = domain === undefined || !form.mayChange || command !== null || domain.result !== "failed";
    $("buttons-hint").textContent = why ?? (active
        ? "Apply now: a new instance, and a reboot. Update the seed: the guest reads it at its next reboot."
        : "Start: boots the guest, and follows how it is set up.");
}

// What it prints is the domain's that was shown then.
async function act(button, uuid) {
    if (command)
        return;
    progress.clear();
    reported.delete(uuid);
    command = button;
    showButtons();
    await actions[button](uuid).catch(({ message, hint }) => follow({ uuid, event: "end", message, hint }));
    command = null;
    await refreshStatus();
    showButtons();
    if (uuid === shown && document.activeElement === document.body)
        $(button).focus();
}

// Why it failed is among the events. How the guest goes on is followed as that of any other.
function start(uuid) {
    let ended = false;
    return events(virtSeed("start", "--no-wait", "--json", uuid), event => {
        ended ||= event.event === "end";
        follow(event);
    }, { change: true }).catch(failure => {
        if (!ended)
            throw failure;
    });
}

async function apply(uuid) {
    const plan = await output(virtSeed("apply", "--dry-run", uuid), { change: true });
    const yes = await ask("Apply now?", [
        make("p", {}, "The guest becomes a new instance, reboots or starts, and cloud-init does everything again, as on a new " +
            "machine: users, keys, passwords, packages and scripts. It makes new ssh host keys unless the seed has some."),
        make("pre", { tabIndex: 0 }, plan)], "Apply", "Cancel");

    if (yes)
        await run(virtSeed("apply", "--yes", "--timeout=1800", uuid), printer(uuid), { change: true });
}

const printer = uuid => line => follow({ uuid, event: "line", line });
const actions = {
    start,
    apply,
    update: uuid => run(virtSeed("update", uuid), printer(uuid), { change: true }),
    logs: uuid => run(virtSeed("logs", uuid), printer(uuid), { change: true }),
};

// An event of a guest, from any command that waits for it.
function follow(event) {
    if (event.event === "boot" || !reported.has(event.uuid))
        reported.set(event.uuid, []);
    reported.get(event.uuid).push(event);
    if (event.uuid === shown)
        progress.add(event);
    if (summary(event))
        showAll();
}

function showAll() {
    $("failure").replaceChildren(...(status.failure ? [problem(status.failure)] : []));
    show($("access"), !form.mayChange);
    if (shown)
        showDomain();
    else
        showList();
}

async function navigate() {
    // What was typed for one domain goes to no other.
    await form.saved;
    const { path } = cockpit.location;
    const target = path.join("/");
    if (target === shownPath)
        return;
    if (form.dirty && !await ask("Leave without saving?", [make("p", {}, "What you have changed is not saved.")], "Leave", "Stay")) {
        $("connection").value = connection.scope;
        cockpit.location.go(shownPath.split("/"));
        return;
    }
    shownPath = target;
    const [scope, uuid = ""] = path;
    if (["system", "session"].includes(scope) && scope !== connection.scope) {
        connection.scope = scope;
        reported.clear();
        restartStatus();
    }
    $("connection").value = connection.scope;
    shown = /^[0-9a-f-]{36}$/.test(uuid) ? uuid : null;
    progress.clear();
    form.close();
    $("load-failure").replaceChildren();
    show($("list-view"), !shown);
    show($("domain-view"), shown !== null);
    $("back").href = `#/${connection.scope}`;
    $("name").textContent = "";
    showAll();
    if (!shown)
        return;
    reported.get(shown)?.forEach(event => progress.add(event));
    await form.load(shown).catch(failure => $("load-failure").replaceChildren(problem(failure)));
    showAll();
}

// One after the other: each may ask a question. One that fails does not hold up the next.
function queueNavigation() {
    navigation = navigation.catch(console.error).then(navigate);
}

async function begin() {
    const user = await cockpit.user();
    followStyle();
    // libvirt has no session of root's that virt-seed would use.
    $("connection").querySelector("[value=session]").disabled = user.id === 0;
    for (const id of Object.keys(actions))
        $(id).addEventListener("click", () => act(id, shown));
    $("connection").addEventListener("change", () => cockpit.location.go([$("connection").value]));
    cockpit.addEventListener("locationchanged", queueNavigation);
    window.addEventListener("beforeunload", event => {
        if (form.dirty)
            event.preventDefault();
    });
    await watchAccess(() => {
        restartStatus();
        form.accessChanged();
        showAll();
    });
    followStatus(() => {
        showAll();
        form.refresh().catch(() => {});
    }, follow);
    queueNavigation();
}

begin();
