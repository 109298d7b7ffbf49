/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "lifecycle/lifecycle.h"
#include "store/rundir.h"

int
lifecycle_resume(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    cleanup_close int rundir = rundir_open(lifecycle->root, &reason);

    /* A failure here would keep the guest from coming back; without the mark the
     * prepare that follows is only stricter. */
    (void)failure;
    if (rundir < 0 || rundir_mark_resume(rundir, lifecycle->domain->uuid, &reason) < 0)
        lifecycle_log_failure(lifecycle, "the start to come is taken for a cold boot",
                              reason);
    return 0;
}
