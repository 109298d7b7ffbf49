/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: main sets no locale, so that nothing else depends on one. How wide a character
 * is, libc and libsmartcols know in a locale of UTF-8 alone; they get one that every glibc has.
 */
#include "config.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/columns.h"

/* Return: the locale before, for uselocale(3). */
static locale_t
enter_utf8(void)
{
    static locale_t utf8;

    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return uselocale(utf8);
}

char *
columns_text(const char *text)
{
    char *copy = xstrdup(text);

    utf8_repair(copy);
    utf8_replace_controls(copy);
    return copy;
}

void
columns_cut(char *text, size_t columns)
{
    locale_t before = enter_utf8();
    mbstate_t state = {0};

    while (*text) {
        wchar_t character;
        size_t length = mbrtowc(&character, text, strlen(text), &state);
        int width = length < (size_t)-2 ? wcwidth(character) : 1;

        if (width < 0)
            width = 1;
        if ((size_t)width > columns) {
            *text = '\0';
            break;
        }
        columns -= (size_t)width;
        text += length < (size_t)-2 ? length : 1;
    }
    uselocale(before);
}

struct libscols_table *
columns_table(size_t count)
{
    struct libscols_table *table = scols_new_table();

    if (!table)
        abort();
    /* The titles are a line like the others, which is printed alone, too. */
    scols_table_enable_noheadings(table, 1);
    scols_table_enable_noencoding(table, 1);
    scols_table_set_column_separator(table, "  ");
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (size_t i = 0; i < count; i++) {
        if (!scols_table_new_column(table, "", 0, 0))
            abort();
    }
    return table;
}

void
columns_add(struct libscols_table *table, const char *const *texts)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);

    if (!line)
        abort();
    for (size_t i = 0; i < scols_table_get_ncols(table); i++) {
        const char *text = texts[i] && *texts[i] ? texts[i] : "-";

        if (scols_line_refer_data(line, i, columns_text(text)) < 0)
            abort();
    }
}

void
columns_print(struct libscols_table *table)
{
    locale_t before = enter_utf8();

    scols_print_table(table);
    uselocale(before);
}
