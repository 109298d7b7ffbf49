/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table on standard output, whose columns are as wide as what is in them. */
#pragma once

#include <stddef.h>

struct table {
    size_t columns;
    char **cells; /* row by row */
    size_t count;
};

/* Adds a cell behind the last one: a copy of the text that is fit to be shown; "-" for NULL and
 * for "". */
void table_add(struct table *table, const char *text);

void table_print(const struct table *table);

void table_clear(struct table *table);

#define cleanup_table __attribute__((cleanup(table_clear)))
