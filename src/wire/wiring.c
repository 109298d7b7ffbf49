/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "wire/wiring.h"

void
wiring_note(struct wiring *wiring, const char *format, ...)
{
    va_list arguments;
    char *change;

    va_start(arguments, format);
    change = xvasprintf(format, arguments);
    va_end(arguments);
    utf8_replace_controls(change);
    texts_add(&wiring->changes, &wiring->change_count, change);
}

char *
wiring_describe(const struct wiring *wiring)
{
    char *text = xstrdup(wiring->changes[0]);

    for (size_t i = 1; i < wiring->change_count; i++) {
        char *longer = xasprintf("%s; %s", text, wiring->changes[i]);

        free(text);
        text = longer;
    }
    return text;
}

void
wiring_clear(struct wiring *wiring)
{
    texts_free(wiring->changes, wiring->change_count);
    *wiring = (struct wiring){0};
}
