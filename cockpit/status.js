// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of the domains, kept up to date: the page asks again and again while somebody sees it, and as soon as a
// guest reports. It does not run `virsh event`: libvirtd 9.0 was seen to crash when that was ended right after its start.
/* global cockpit */
import { events, jsonOf, virtSeed } from "./command.js";

const pollSeconds = 4;

/** The domains as `virt-seed status --json` describes them, and why that failed, if it did. */
export const status = { domains: [], failure: null, loaded: false };

let onChange = () => {};
let onEvent = () => {};
let generation = 0;
let timer = null;
let asking = false;
let askAgain = false;
let reports = { key: "", process: null };

/** Follows the domains of the connection: changed() is called after each change, event() with what guests report. */
export function followStatus(changed, event) {
    onChange = changed;
    onEvent = event;
    cockpit.addEventListener("visibilitychange", refreshStatus);
    restartStatus();
}

/** Forgets everything and begins again: another connection, or other rights. */
export function restartStatus() {
    generation++;
    reports.process?.close();
    reports = { key: "", process: null };
    Object.assign(status, { domains: [], failure: null, loaded: false });
    refreshStatus();
}

function soon(seconds) {
    clearTimeout(timer);
    timer = setTimeout(refreshStatus, 1000 * seconds);
}

/** Asks for the state of all domains now. */
export async function refreshStatus() {
    const mine = generation;
    askAgain = asking;
    if (cockpit.hidden || asking)
        return;
    asking = true;
    clearTimeout(timer);
    const answer = await jsonOf(virtSeed("status", "--json")).then(
        domains => ({ domains, failure: null }), failure => ({ failure }));
    if (mine === generation)
        Object.assign(status, answer, { loaded: true });
    asking = false;
    if (mine === generation && !askAgain) {
        followReports();
        onChange();
    }
    soon(mine !== generation || askAgain ? 0 : pollSeconds);
}

// One command waits for all guests that are being set up.
function followReports() {
    const domains = status.domains.filter(domain => domain.state === "running" && domain.wired &&
                                          ["none", "running"].includes(domain.result));
    const key = domains.map(domain => domain.uuid).sort().join(" ");
    if (key === reports.key)
        return;
    reports.process?.close();
    reports = { key, process: null };
    if (key === "")
        return;
    reports.process = events(virtSeed("wait", "--json", ...domains.map(domain => domain.uuid)), event => {
        onEvent(event);
        if (event.event === "end" || event.event === "boot")
            soon(0.3);
    });
    const mine = reports;
    // Also if it has ended for another reason than the guests.
    reports.process.catch(() => {}).then(() => setTimeout(() => { mine.key = ""; }, 30000));
}

/** The domain of this UUID, or undefined. */
export const domainOf = uuid => status.domains.find(domain => domain.uuid === uuid);
