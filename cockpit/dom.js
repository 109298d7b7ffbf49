// SPDX-License-Identifier: GPL-2.0-or-later
// The page's own elements. Whatever comes from a guest, a document or a command becomes text, never HTML.

/** Returns the element with this id. */
export const $ = id => document.getElementById(id);

/** Makes an element with properties, attributes ("class" and those with a dash) and children, elements or text. */
export function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name === "class" || name.includes("-") || name === "for" || name === "role")
            element.setAttribute(name, value);
        else
            element[name] = value;
    }
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
}

/** Shows or hides an element. */
export function show(element, visible) {
    element.hidden = !visible;
}

/** What a command said went wrong, with its hint. */
export function problem({ message, hint }) {
    return make("div", { class: "problem" },
                make("p", {}, make("strong", {}, "Error: "), message),
                hint ? make("p", {}, make("strong", {}, "Hint: "), hint) : null);
}

/** Asks a question; returns whether the answer was yes. The dialog takes the focus and gives it back. */
export function ask(title, content, yes, no) {
    const dialog = $("question");
    $("question-title").textContent = title;
    $("question-text").replaceChildren(...content);
    $("question-yes").textContent = yes;
    $("question-no").textContent = no;
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise(resolve => {
        dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    });
}

/** Follows the style that the user has chosen in Cockpit's shell. */
export function followStyle() {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
        const choice = localStorage.getItem("shell:style") ?? "auto";
        const isDark = choice === "dark" || (choice === "auto" && dark.matches);
        document.documentElement.dataset.style = isDark ? "dark" : "light";
    };
    window.addEventListener("storage", apply);
    dark.addEventListener("change", apply);
    apply();
}
