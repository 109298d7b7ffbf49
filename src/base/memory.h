/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocation that cannot fail: out of memory aborts. What is allocated from outside's
 * numbers is bounded before (base/limits.h).
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* Return: memory, owned by the caller (free); xcalloc's is zeroed. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *memory, size_t count, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
/* Return: the text as one word of a shell, in quotes where it needs them. */
char *xshellquote(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));
