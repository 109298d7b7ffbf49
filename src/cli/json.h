/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON on standard output, for --json. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

/* Prints the value and a line end, and releases it. */
static inline void
json_print(json_t *value)
{
    if (!value)
        abort();
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(value);
}
