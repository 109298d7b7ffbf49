/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's command line, as far as it must be understood: options and their lists of keys
 * (QEMU's qemu-options.hx, util/keyval.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An option, as "uuid" of "-uuid VALUE" or "--uuid VALUE". */
struct option_at {
    const char *name;  /* without dashes; NULL at the end */
    const char *value; /* what follows it, perhaps another option; never NULL */
};

/*
 * Walks over the options. `index` is 1 at first. A kernel's command line (-append), the
 * one value that may begin with a dash, is passed over.
 */
struct option_at arguments_next(char **arguments, size_t *index);

/* Return: how often the option is there; `value` is that of the last, or NULL. */
size_t arguments_find(char **arguments, const char *name, const char **value);

/*
 * The value of a key in "key=value,…", where ",," is a comma, or in a JSON object with
 * texts; of several the last. `implied` is the key of a first word without "=", or NULL.
 * Return: owned by the caller (free); NULL where it is not there.
 */
char *list_value(const char *list, const char *key, const char *implied);

/* Return: the text as a value for such a list, owned by the caller (free). */
char *list_escape(const char *text);
