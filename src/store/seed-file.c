/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "image/publish.h"
#include "store/rundir.h"
#include "store/seed-file.h"

int
seed_file_publish(int root, int rundir, const char *uuid, const struct seed *seed,
                  struct failure **failure)
{
    cleanup_free char *name = rundir_seed_name(uuid);
    struct image_owner owner;

    rundir_seed_owner(root, &owner.uid, &owner.gid);
    if (image_publish(rundir, name, &owner, seed, failure) == 0)
        return 0;
    failure_prefix(failure, "%s", VIRT_SEED_RUNDIR);
    return failure_hint(failure, "see that it can be written and has room: df %s",
                        VIRT_SEED_RUNDIR);
}
