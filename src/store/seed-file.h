/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running domain's seed, as it lies in the run-time directory (store/rundir.h). */
#pragma once

#include <stdbool.h>

#include "base/failure.h"
#include "seed/seed.h"

/* Puts the seed's image there, for the user that QEMU runs as. `root` is where the host's
 * files are. */
int seed_file_publish(int root, int rundir, const char *uuid, const struct seed *seed,
                      struct failure **failure);

/*
 * Reads it back, below `root`. `found` says whether there is one: a domain that does not
 * run has none.
 * Return: 0, or -1 where there is one that cannot be read.
 */
int seed_file_read(int root, const char *uuid, struct seed *seed, bool *found,
                   struct failure **failure);
