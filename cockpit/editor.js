// SPDX-License-Identifier: GPL-2.0-or-later
// An editor for a document: a text area with line numbers, and the findings at their lines.
import { make } from "./dom.js";

let count = 0;

export class Editor {
    /** part is a document of a request, name its element's; onInput is called after each change. */
    constructor(part, name, label, hint, onInput) {
        const id = `editor-${++count}`;
        Object.assign(this, { part, name });
        this.findings = make("ul", { id: `${id}-findings`, class: "findings" });
        if (part.fixed !== null) {
            this.element = make("div", { class: "editor" }, make("h3", {}, label), make("p", {}, part.fixed), this.findings);
            part.original = part.text;
            return;
        }
        this.gutter = make("div", { class: "gutter", "aria-hidden": "true" });
        this.area = make("textarea", {
            id, wrap: "off", spellcheck: false, autocapitalize: "off", autocomplete: "off",
            "aria-describedby": `${id}-hint ${id}-findings`,
        });
        this.area.value = part.text;
        // With the line ends that the text area makes.
        part.text = part.original = this.area.value;
        this.area.addEventListener("input", () => {
            part.text = this.area.value;
            this.#number();
            onInput();
        });
        this.area.addEventListener("scroll", () => { this.gutter.scrollTop = this.area.scrollTop; });
        this.element = make("div", { class: "editor" },
                            make("label", { for: id }, label),
                            make("p", { id: `${id}-hint`, class: "hint" }, hint),
                            make("div", { class: "paper" }, this.gutter, this.area), this.findings);
        this.#number();
    }

    #number() {
        const lines = this.area.value.split("\n").length;
        this.area.rows = Math.min(Math.max(lines + 1, 4), 24);
        if (this.gutter.childElementCount === lines)
            return;
        this.gutter.replaceChildren(...Array.from({ length: lines }, (_, i) => make("div", {}, String(i + 1))));
    }

    /** Shows the findings of this document, below it and next to their lines. */
    mark(list) {
        const findings = list.map(finding => ({ ...finding, line: finding["part-line"] && finding["part-line"] - this.part.offset }));
        this.findings.replaceChildren(...findings.map(finding => this.#describe(finding)));
        if (!this.area)
            return;
        this.area.setAttribute("aria-invalid", String(findings.some(({ severity }) => severity === "error")));
        for (const line of this.gutter.children)
            line.className = "";
        for (const finding of findings) {
            const line = this.gutter.children[finding.line - 1];
            if (line && line.className !== "error")
                line.className = finding.severity;
        }
    }

    #describe(finding) {
        const { line } = finding;
        const item = describe(finding);
        if (line && this.area) {
            item.prepend(make("button", {
                type: "button", class: "link", onclick: () => this.go(line),
            }, `Line ${line}`), " ");
        }
        return item;
    }

    /** Puts the cursor into a line. */
    go(line) {
        const lines = this.area.value.split("\n");
        const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
        this.area.focus();
        this.area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    }
}

/** A finding as an item of a list. */
export function describe(finding) {
    return make("li", { class: finding.severity },
                make("strong", {}, `${finding.severity === "error" ? "Error" : "Warning"}: `), finding.message,
                finding.hint ? make("span", { class: "hint" }, ` Hint: ${finding.hint}`) : null);
}
