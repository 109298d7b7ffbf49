/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command reads and writes: files, or standard input and output; JSON. */
#pragma once

#include <jansson.h>

#include "base/base.h"

/* Reads a file whole, or standard input if the path is NULL; a FIFO is welcome. `hint`
 * says what to give if it cannot be read. */
int io_read(const char *path, size_t limit, const char *hint, struct buffer *content,
            struct failure **failure);

/* Return: whether the path means standard output: none, or "-". */
bool output_is_standard(const char *path);

/*
 * A file that appears whole or not at all: symbolic links are followed, except for one that
 * leads nowhere, which is replaced; and what is there but is not a regular file (a device, a
 * FIFO) is written into.
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

/* Return: the object, which it takes, with the version of the format that virt-seed-json(7)
 * describes; owned by the caller. */
json_t *json_with_version(json_t *object);

/* Prints the object or list of --json and a line end on standard output, each object with
 * its version, and releases it. */
void json_print(json_t *value);

/* --- printing --------------------------------------------------------------------- */

/* Return: the time by this host's clock, "2026-01-01 00:00:00 +0000", owned by the caller
 * (free). */
char *local_time(time_t seconds);

/* Prints text from outside with '?' for each character that is unfit to be shown and each
 * byte that is not UTF-8, so that it can neither control a terminal nor look like
 * something else. The controls in `allowed` stay: "\n\t" for a document. */
void print_outside_text(FILE *stream, const char *text, size_t size, const char *allowed);

/* The same for a name, in which all of them are replaced. */
void print_outside_string(FILE *stream, const char *text);

/* Prints a line like a name, and a newline. */
void print_outside_line(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
