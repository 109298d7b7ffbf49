/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/result.h"
#include "lifecycle/sweep.h"
#include "store/delivery.h"
#include "store/report-file.h"
#include "store/rundir.h"

/* After a start that was refused there is none. What cannot be removed of the one delivery is no
 * reason to leave something of the other. */
static int
remove_seed(const struct lifecycle *lifecycle, struct failure **failure)
{
    const char *uuid = lifecycle->domain->uuid;
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);
    bool was_there = false;

    if (rundir < 0)
        return -1;
    for (size_t i = 0; deliveries[i]; i++)
        was_there = was_there || delivery_is_there(deliveries[i], rundir, uuid);
    rundir_remove(rundir, uuid, failure);
    for (size_t i = 0; deliveries[i]; i++) {
        cleanup_failure struct failure *another = NULL;

        if (deliveries[i]->withdraw(rundir, uuid, *failure ? &another : failure) < 0 &&
            another)
            lifecycle_log_failure(lifecycle, "more of it stays", another);
    }
    if (*failure)
        return -1;
    if (was_there)
        lifecycle_log_event(lifecycle, LIFECYCLE_SEED_REMOVED, NULL, "seed removed");
    return 0;
}

/* The seed goes before anything that the guest has written is looked at. */
int
lifecycle_release(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *another = NULL;
    int result = remove_seed(lifecycle, failure);

    result_record(lifecycle);
    if (report_file_remove(lifecycle->root, lifecycle->domain->uuid,
                           result < 0 ? &another : failure) < 0)
        result = -1;
    sweep_records(lifecycle);
    return result;
}
