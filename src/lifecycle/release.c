/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "lifecycle/lifecycle.h"
#include "store/rundir.h"

int
lifecycle_release(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);

    return rundir < 0 ? -1 : rundir_remove(rundir, lifecycle->domain->uuid, failure);
}
