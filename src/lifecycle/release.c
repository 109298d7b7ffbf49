/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/result.h"
#include "lifecycle/sweep.h"
#include "store/report-file.h"
#include "store/rundir.h"
#include "store/served-seed.h"

static bool
has_seed(int rundir, const char *uuid)
{
    cleanup_free char *name = rundir_seed_name(uuid);

    return faccessat(rundir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* After a start that was refused there is none. What cannot be removed of the one place is no
 * reason to leave something in the other. */
static int
remove_seed(const struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *another = NULL;
    const char *uuid = lifecycle->domain->uuid;
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);
    bool was_there =
        rundir >= 0 && (has_seed(rundir, uuid) || served_seed_is_there(rundir, uuid));
    int result;

    if (rundir < 0)
        return -1;
    result = rundir_remove(rundir, uuid, failure);
    if (served_seed_withdraw(rundir, uuid, result < 0 ? &another : failure) < 0)
        result = -1;
    if (another)
        lifecycle_log_failure(lifecycle, "what was served stays, too", another);
    if (result < 0)
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
