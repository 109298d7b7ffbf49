/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "image/iso-read.h"
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

static void
take_documents(struct seed *seed, struct volume *volume)
{
    *seed = (struct seed){0};
    seed->volume_id = steal(volume->label);
    for (size_t i = 0; i < volume->file_count; i++)
        seed_add_document(seed, volume->files[i].path)->data =
            steal_buffer(&volume->files[i].data);
}

int
seed_file_read(int root, const char *uuid, struct seed *seed, bool *found,
               struct failure **failure)
{
    cleanup_free char *name = rundir_seed_name(uuid);
    cleanup_close int rundir = fs_open_directory_in_root(root, VIRT_SEED_RUNDIR);
    cleanup_close int fd =
        rundir < 0 ? rundir : fs_open_regular_beneath(rundir, name, NULL);
    cleanup_volume struct volume volume = {0};

    *found = fd != -ENOENT;
    if (!*found)
        return 0;
    if (fd < 0) {
        failure_set_errno(failure, FAILURE_RUNDIR, fd, "could not read %s/%s",
                          VIRT_SEED_RUNDIR, name);
        return failure_hint(failure, "root may read it");
    }
    if (iso_read(fd, &volume, failure) < 0)
        return failure_prefix(failure, "%s/%s", VIRT_SEED_RUNDIR, name);
    take_documents(seed, &volume);
    return 0;
}
