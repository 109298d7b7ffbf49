/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Process setup at the start of each program, and running other programs. */
#pragma once

#include <signal.h>

#include "base/base.h"

/* What a program does first, whatever it inherits: opens /dev/null for each of the
 * descriptors 0, 1 and 2 that is closed, so that a file opened later cannot become one of
 * them, and stops ignoring SIGCHLD, without which it would not learn how its children
 * end. Return: 0 or -errno. */
int process_begin(void);

/* Blocks the signals (ended by 0), which are read from a signalfd(2) instead; those that
 * are ignored, as with nohup(1), stay so. Return: that descriptor, owned by the caller, or
 * -errno. */
int process_catch_signals(const int *signals);

/* Ends the process after that many seconds with `message` on standard error and the exit
 * status that `status` has by then. Both stay valid. */
void process_limit_time(unsigned int seconds, const char *message,
                        const volatile sig_atomic_t *status);

/* Return: milliseconds of a clock that is never set. */
int64_t clock_milliseconds(void);

/* No core files, no ptrace by others, no files that others can write (umask), no death by
 * SIGPIPE or SIGXFSZ: errors are returned. */
void process_harden(void);

/* Return: the path of a file next to the running program, links resolved, owned by the
 * caller (free); NULL with errno if /proc does not tell. */
char *process_path_beside(const char *name);

/* Seals the memfd, so that it cannot be changed any more. Return: 0 or -errno; -EBUSY if it
 * is still mapped for writing. */
int process_seal(int memfd);

/* Return: a memfd with that content, which everybody who has it can read and nobody can
 * change, owned by the caller, or -errno. */
int process_document(const char *name, const struct buffer *content);
