/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text on a terminal: how many columns it takes there. */
#pragma once

#include <stddef.h>

/* Return: a copy of the text that can be shown: one line of UTF-8 without control characters,
 * owned by the caller (free). */
char *columns_text(const char *text);

/* Return: how many columns such text takes: two for the wide characters of East Asia and for
 * pictures, one for each other. */
size_t columns_count(const char *text);

/* Cuts such text, in place, to so many columns. */
void columns_cut(char *text, size_t columns);
