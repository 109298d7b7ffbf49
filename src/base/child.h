/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another program that is run for what it prints, on documents that are handed over as
 * descriptors: within bounds of time, memory and output. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"

struct child {
    char *const *words;       /* the program, looked for in $PATH, and its arguments */
    char *const *environment; /* NULL is our own */
    const int *documents;     /* descriptors that it gets under the same numbers; -1 ends
                                 them. Its path for one is /proc/self/fd/N. */
    size_t output;            /* bytes that it may print */
    unsigned long memory;     /* bytes that it may have */
    int seconds;              /* that it may take */
    bool silent;              /* drop what it prints on standard error */
};

/* What child_run() returns besides an exit status. */
#define CHILD_KILLED (-1)  /* it took too long, printed too much, or ended by a signal */
#define CHILD_MISSING (-2) /* there is no such program, or it could not be started */

/*
 * Runs the child, and appends what it prints on standard output and standard error to
 * `output`; standard input is empty. Return: the exit status, or one of the above.
 */
int child_run(const struct child *child, struct buffer *output);

/* Return: a descriptor with that content, in memory, owned by the caller; or -errno. */
int child_document(const char *name, const struct buffer *content);
