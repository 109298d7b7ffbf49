// SPDX-License-Identifier: GPL-2.0-or-later
// What saving would change for the guest, in the words of `virt-seed pending --json`.
import { make } from "./dom.js";

const boots = {
    unrecorded: "The next start is a first boot, as far as this host knows: cloud-init applies everything.",
    "new-instance": "The next start is a new instance: cloud-init applies everything again, and makes new ssh host keys " +
        "unless the seed has some.",
    "same-instance": "The guest stays the same instance: at its next start, cloud-init repeats only what it does at every " +
        "boot. Users, keys, passwords, packages and addresses wait for “Apply now”, which makes it a new instance.",
    kept: "The guest keeps what it has, and reads no seed (cache=\"keep\").",
};

/** Describes the member "pending" of an answer as elements. */
export function describePending(pending, changes) {
    const items = (pending?.documents ?? []).filter(document => document.state !== "unchanged").map(describeDocument);
    const parts = [];
    if (changes.length)
        parts.push(make("details", {}, make("summary", {}, "The domain's definition"),
                        make("ul", {}, ...changes.map(change => make("li", {}, change)))));
    if (!pending)
        return parts;
    parts.push(items.length
        ? make("ul", {}, ...items)
        : make("p", {}, "The guest's documents stay as they were at its last boot."));
    if (items.length || pending.boot !== "same-instance")
        parts.push(make("p", {}, boots[pending.boot] ?? "Whether the next start is a new instance is not known."));
    if (pending.denied)
        parts.push(make("p", { class: "hint" }, `Not all could be compared: ${pending.denied}.`));
    return parts;
}

function describeDocument(document) {
    const text = `${document.path}: ${document.state}`;
    if (document.secret)
        return make("li", {}, `${text}; it contains secrets, and is not shown`);
    if (!document.diff)
        return make("li", {}, text);
    return make("li", {}, make("details", {}, make("summary", {}, text), make("pre", {}, document.diff)));
}
