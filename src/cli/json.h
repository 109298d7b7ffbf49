/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON on standard output, for --json. */
#pragma once

#include <jansson.h>

/* Prints the value and a line end, and releases it. */
void json_print(json_t *value);
