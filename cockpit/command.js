// SPDX-License-Identifier: GPL-2.0-or-later
// Runs virt-seed and virsh, as root for the system's domains if the user has administrative access.
/* global cockpit */

/** Which of libvirt's daemons the page shows: "system" or "session". */
export const connection = { scope: "system", get uri() { return `qemu:///${this.scope}`; } };

/** Whether the user may change the system's domains; see watchAccess(). */
export const access = { admin: false };

/** A command's failure: its own message and hint. */
export class Failure extends Error {
    constructor(message, hint = null) {
        super(message);
        this.hint = hint;
    }
}

// virt-seed prints "virt-seed: error: MESSAGE" and "virt-seed: hint: HINT".
function failureOf(problem, command) {
    const said = word => (problem.message ?? "").split("\n")
            .filter(line => line.startsWith(`virt-seed: ${word}: `))
            .map(line => line.slice(`virt-seed: ${word}: `.length)).join(" ");

    if (problem.problem === "access-denied")
        return new Failure("only an administrator may do this", "turn on administrative access, at the top of the window");
    if (problem.problem === "not-found")
        return new Failure(`this host has no command '${command}'`, "install its package");
    return new Failure(said("error") || problem.message || problem.problem || "the command failed", said("hint") || null);
}

/**
 * Starts a command and calls onLine with each line that it prints.
 *
 * Options: change, which needs administrative access for the system's domains; input, for its standard input.
 * Returns a promise, which fails if the command does; its close() ends the command.
 */
export function run(argv, onLine, { change = false, input = "" } = {}) {
    const options = { err: "message", environ: ["LC_ALL=C.UTF-8"] };
    let rest = "";
    if (connection.scope === "system")
        options.superuser = change ? "require" : "try";
    const process = cockpit.spawn(argv, options);
    const finish = () => {
        if (rest)
            onLine(rest);
    };
    process.input(input);
    process.stream(data => {
        const lines = (rest + data).split("\n");
        rest = lines.pop();
        lines.forEach(onLine);
    });
    const promise = new Promise((resolve, reject) => { process.then(resolve, reject); }).then(finish, problem => {
        finish();
        throw failureOf(problem, argv[0]);
    });
    promise.close = () => process.close("terminated");
    return promise;
}

/** Returns all that a command printed. */
export async function output(argv, options) {
    const lines = [];
    await run(argv, line => lines.push(line), options);
    return lines.join("\n");
}

export const virtSeed = (...words) => ["virt-seed", "-c", connection.uri, ...words];
export const virsh = (...words) => ["virsh", "-r", "-c", connection.uri, ...words];

/**
 * Returns the one object that a command prints with --json. It prints it also when it fails; the object then
 * says why.
 */
export async function jsonOf(argv, options) {
    let failure = new Failure(`'${argv[0]}' has printed no JSON`, "is its version the page's?");
    const lines = [];
    await run(argv, line => lines.push(line), options).catch(error => { failure = error; });
    try {
        return JSON.parse(lines.join("\n"));
    } catch {
        throw failure;
    }
}

/** Calls back with each object that a command prints with --json, a line each. */
export function events(argv, onEvent, options) {
    return run(argv, line => onEvent(JSON.parse(line)), options);
}

/**
 * Keeps `access` up to date, and calls back after each change; returns a promise of the first answer.
 * cockpit.permission() would reload the page at a change, and what was typed would be lost.
 */
export function watchAccess(onChange) {
    const superuser = cockpit.dbus(null, { bus: "internal" }).proxy("cockpit.Superuser", "/superuser");
    const probe = async () => {
        const channel = cockpit.channel({ payload: "null", superuser: "require" });
        const admin = await channel.wait().then(() => true, () => false);
        const changed = access.admin !== admin;
        channel.close();
        access.admin = admin;
        return changed;
    };
    superuser.addEventListener("changed", async () => await probe() && onChange());
    return probe();
}
