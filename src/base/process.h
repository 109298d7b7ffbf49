/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program of ours sets up before it does anything. */
#pragma once

/* Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed, so that no
 * file that is opened later takes its place. Return: 0 or -errno. */
int process_open_standard(void);

/* Makes `input`, which is none of 0, 1 and 2, the descriptor 0, and `output`, another such,
 * the descriptor 1; sends the descriptor 2 to /dev/null, and closes all others. -1 is
 * /dev/null. Return: 0 or -errno. */
int process_keep_descriptors(int input, int output);

/* Sends the descriptors 0, 1 and 2 to /dev/null and closes all others. Return: 0 or
 * -errno. */
int process_detach_descriptors(void);

/* No core files, no ptrace by others, no death by SIGPIPE or SIGXFSZ: errors are
 * returned. */
void process_harden(void);

/* Return: the path of a file next to the running program, links resolved, owned by the
 * caller (free); NULL, with errno, where /proc does not tell. */
char *process_path_beside(const char *name);
