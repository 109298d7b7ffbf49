// SPDX-License-Identifier: GPL-2.0-or-later
// How far the set-up of a guest is, from the events of `virt-seed wait --json` and `virt-seed start --json`.
import { connection } from "./command.js";
import { $, make, problem, show } from "./dom.js";

const stageNames = {
    "init-local": "looks for its seed, and sets up the network",
    init: "users, keys, host name, files",
    "modules-config": "time zone, settings",
    "modules-final": "packages, scripts",
};

const plain = {
    wired: "The domain has been wired.",
    running: "The domain is running.",
    boot: "The guest boots.",
    silenced: "It reports too much: nothing more of it is shown before its end.",
};

/** What an event of a guest says in a few words, or null. */
export function summary(event) {
    if (event.event === "boot")
        return "the guest boots";
    if (event.event === "stage")
        return `${event.stage} ${event.state}`;
    return null;
}

export class Progress {
    #stages = new Map();

    clear() {
        this.#stages.clear();
        $("stages").replaceChildren();
        $("outcome").replaceChildren();
        $("log").textContent = "";
        show($("log"), false);
        show($("progress"), false);
    }

    /** Shows one event. */
    add(event) {
        const { event: kind, message } = event;
        show($("progress"), true);
        if (kind === "boot") {
            this.#stages.clear();
            $("stages").replaceChildren();
            $("outcome").replaceChildren();
        }
        if (plain[kind])
            this.#say("", plain[kind]);
        else if (kind === "stage")
            this.#stage(event);
        else if (kind === "error" || kind === "warning")
            this.#say(kind === "error" ? "Error: " : "Warning: ", message, kind);
        else if (kind === "end")
            this.#end(event);
        else if (kind === "line")
            this.#print(event.line);
    }

    #say(word, text, name = "") {
        $("outcome").append(make("p", { class: name }, make("strong", {}, word), text));
    }

    #stage({ stage, state, seconds }) {
        let item = this.#stages.get(stage);
        if (!item) {
            item = make("li");
            this.#stages.set(stage, item);
            $("stages").append(item);
        }
        const time = typeof seconds === "number" ? `, ${seconds.toFixed(1)} s` : "";
        item.className = state === "finished" ? "done" : "";
        item.textContent = `${stage} (${stageNames[stage] ?? "a stage of cloud-init"}): ${state}${time}`;
    }

    #end({ domain, outcome, message, hint, then }) {
        if (outcome === "started") {
            this.#say("", "The domain has started. The guest reports as soon as its cloud-init runs.");
        } else if (outcome === "done") {
            const next = then ? ` It is about to ${then === "reboot" ? "reboot" : "shut down"} by itself.` : "";
            this.#say("Done: ", `the guest is set up.${next} On this host, this logs in: ` +
                      `virt-seed -c ${connection.uri} ssh '${domain}'`, "done");
        } else if (message) {
            $("outcome").append(problem({ message, hint }));
        } else {
            this.#say("Ended: ", outcome, "failed");
        }
    }

    #print(line) {
        show($("log"), true);
        $("log").append(`${line}\n`);
        $("log").scrollTop = $("log").scrollHeight;
    }
}
