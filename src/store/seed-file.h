/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The image of a running domain's seed, in the run-time directory (store/rundir.h). */
#pragma once

#include "base/failure.h"
#include "seed/seed.h"

/* Puts it there, for the user that QEMU runs as. `root` is where the host's
 * files are. */
int seed_file_publish(int root, int rundir, const char *uuid, const struct seed *seed,
                      struct failure **failure);
