/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs other programs. */
#pragma once

#include "base/base.h"

/*
 * Another program that is run for its output, on documents passed as descriptors, within
 * bounds of time, memory and output, without a terminal or other descriptors.
 */
struct child {
    const char *const *words; /* the program, found in $PATH, and its arguments */
    const char *const
        *environment; /* NULL: the caller's own; nothing if another user's */
    /* Descriptors that it gets under the same numbers, ended by -1; NULL for none. Its path
     * for one is /proc/self/fd/N. */
    const int *documents;
    size_t output; /* bytes that it may print on standard output */
    /* A file that gets what it prints there, unless 0; owned by the caller. */
    int file;
    /* Its standard error is the caller's, not a part of the output. */
    bool shows_errors;
    unsigned long memory; /* bytes that it may have */
    int seconds;          /* that it may take */
    /* Root runs it as nobody (setpriv), without privileges and with $PATH and
     * `environment` alone, because others wrote what it reads. */
    bool unprivileged;
};

/* What child_run() returns besides an exit status. */
#define CHILD_KILLED                                                                     \
    (-1)                   /* it took too long, printed too much, or died of a signal; or,
                              with errno, what it printed could not be written */
#define CHILD_MISSING (-2) /* it, or what changes the user, could not be started */

/*
 * Runs the child, and appends what it prints on standard output and standard error to
 * `output`, which is NULL with a file; standard input is empty. Return: the exit status, or
 * one of the above.
 */
int child_run(const struct child *child, struct buffer *output);
