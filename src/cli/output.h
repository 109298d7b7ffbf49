/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a subcommand's result goes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"

/* Return: whether the path means standard output: none, or "-". */
bool output_is_standard(const char *path);

/* Return: a descriptor of the directory that `path` is in, owned by the caller, or -1;
 * `name` gets the last component, borrowed from `path`. */
int output_open_directory(const char *path, const char **name, struct failure **failure);

/* Writes the bytes to the file `path`, which appears whole or not at all; to standard
 * output when `path` is NULL or "-". A file that was there keeps its mode; a new one
 * gets 0600, for a definition may hold passwords. */
int output_write(const char *path, const char *data, size_t size,
                 struct failure **failure);
