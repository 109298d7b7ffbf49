/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/texts.h"
#include "cli/columns.h"
#include "cli/table.h"

#define GAP 2

void
table_add(struct table *table, const char *text)
{
    texts_add(&table->cells, &table->count, columns_text(text && *text ? text : "-"));
}

/* Return: how wide each column is, owned by the caller (free). */
static size_t *
find_widths(const struct table *table)
{
    size_t *widths = xcalloc(table->columns, sizeof(widths[0]));

    for (size_t i = 0; i < table->count; i++) {
        size_t *width = &widths[i % table->columns];
        size_t columns = columns_count(table->cells[i]);

        *width = columns > *width ? columns : *width;
    }
    return widths;
}

void
table_print(const struct table *table)
{
    cleanup_free size_t *widths = find_widths(table);

    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->columns;
        const char *cell = table->cells[i];

        fputs(cell, stdout);
        if (column == table->columns - 1)
            putchar('\n');
        else
            printf("%*s", (int)(widths[column] + GAP - columns_count(cell)), "");
    }
}

void
table_clear(struct table *table)
{
    texts_free(table->cells, table->count);
    *table = (struct table){0};
}
