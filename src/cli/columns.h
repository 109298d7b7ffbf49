/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text on a terminal: what can be shown, and how many columns it takes there. */
#pragma once

#include <stddef.h>

#include <libsmartcols.h>

/* Return: a copy of the text that can be shown: one line of UTF-8 without control characters,
 * owned by the caller (free). */
char *columns_text(const char *text);

/* Cuts such text, in place, to so many columns. */
void columns_cut(char *text, size_t columns);

/* Return: a table whose columns are as wide as what is in them, owned by the caller
 * (scols_unref_table). */
struct libscols_table *columns_table(size_t count);
/* Adds a line to the table: a copy of each text that can be shown, "-" for NULL and for "". */
void columns_add(struct libscols_table *table, const char *const *texts);
/* Prints the table on standard output. */
void columns_print(struct libscols_table *table);

static inline void
columns_unref(struct libscols_table **table)
{
    scols_unref_table(*table);
}

#define cleanup_columns __attribute__((cleanup(columns_unref)))
