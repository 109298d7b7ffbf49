/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a subcommand's result goes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/failure.h"

/* Return: whether the path means standard output: none, or "-". */
bool output_is_standard(const char *path);

/*
 * A file that appears whole or not at all: symbolic links are followed, and what is there but is
 * not a regular file (a device, a FIFO) is written into.
 */
struct output {
    char *path;       /* links resolved; owned */
    const char *name; /* its last component */
    int directory;    /* the one it is in */
    bool stream;      /* write into it: it is not a regular file */
};

int output_open(struct output *output, const char *path, struct failure **failure);
void output_close(struct output *output);

#define cleanup_output __attribute__((cleanup(output_close)))

/* Writes the bytes to the file `path`, to standard output when it is NULL or "-". A file
 * that was there keeps its mode; a new one gets 0600, for a definition may hold
 * passwords. */
int output_write(const char *path, const char *data, size_t size,
                 struct failure **failure);

/* Prints the value of --json and a line end on standard output, and releases the value. */
void json_print(json_t *value);
