/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running domain's seed, as it lies in the run-time directory: the image on its disk
 * (seed-file.h), or what is served (served-seed.h).
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "domain/documents.h"

/*
 * Opens the image, or the directory of what is served: where both are there, that.
 * Return: a descriptor, owned by the caller, or -errno; `status` gets what fstat(2) says. Who
 * may not look into the tree of what is served finds the image alone.
 */
int running_seed_open(int rundir, const char *uuid, struct stat *status);

/* Reads what was opened; what is served has NoCloud's documents and label. */
int running_seed_read_open(int fd, const struct stat *status, struct seed *seed,
                           struct failure **failure);

/*
 * Reads it as a seed, below `root`. `found` says whether there is one: a domain that does not
 * run has none.
 * Return: 0, or -1 where there is one that cannot be read.
 */
int running_seed_read(int root, const char *uuid, struct seed *seed, bool *found,
                      struct failure **failure);
