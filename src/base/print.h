/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a main prints of what went up to it. */
#pragma once

#include <stdio.h>

#include "base/failure.h"

/* Prints text from outside with each character that is unfit to be shown (base/text.h)
 * replaced by '?', so that it can neither steer a terminal nor look like what it is not. Line
 * ends and tabs stay. */
void print_outside_text(FILE *stream, const char *text, size_t size);

/* The same for a name, which has no business with line ends: they are replaced as well. */
void print_outside_string(FILE *stream, const char *text);

/* Prints a line the same way, and its end. */
void print_outside_line(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "virt-seed: error: …" and, where there is one, "virt-seed: hint: …" on standard
 * error, a line each, whatever is in them. */
void print_failure(const struct failure *failure);

/* The same for what is done without: "virt-seed: warning: …". */
void print_warning(const struct failure *failure);
