/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program of ours sets up before it does anything, and other programs that it
 * runs. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"

/* Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed, so that no
 * file that is opened later takes its place. Return: 0 or -errno. */
int process_open_standard(void);

/* Makes `input`, which is none of 0, 1 and 2, the descriptor 0, and `output`, another
 * such, the descriptor 1; sends the descriptor 2 to /dev/null, and closes all others. -1
 * is /dev/null. Return: 0 or -errno. */
int process_keep_descriptors(int input, int output);

/* No core files, no ptrace by others, no death by SIGPIPE or SIGXFSZ: errors are
 * returned. */
void process_harden(void);

/* Return: the path of a file next to the running program, links resolved, owned by the
 * caller (free); NULL, with errno, where /proc does not tell. */
char *process_path_beside(const char *name);

/*
 * Another program that is run for what it prints, on documents that are handed over as
 * descriptors: within bounds of time, memory and output.
 */
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
