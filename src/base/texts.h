/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of texts, each a pointer and a count: NULL and 0 where there is none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Adds the text, which the list owns then. */
void texts_add(char ***texts, size_t *count, char *text);

bool texts_have(char *const *texts, size_t count, const char *text);

/* Frees the texts, and the list itself. */
void texts_free(char **texts, size_t count);
