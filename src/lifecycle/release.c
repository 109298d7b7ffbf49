/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "lifecycle/lifecycle.h"
#include "store/report-file.h"
#include "store/rundir.h"

int
lifecycle_release(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);

    if (rundir < 0 || rundir_remove(rundir, lifecycle->domain->uuid, failure) < 0)
        return -1;
    return report_file_remove(lifecycle->root, lifecycle->domain->uuid, failure);
}
