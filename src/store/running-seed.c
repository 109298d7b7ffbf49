/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "image/iso.h"
#include "store/imds-tree.h"
#include "store/rundir.h"
#include "store/running-seed.h"

static int
open_served(int rundir, const char *uuid, struct stat *status)
{
    cleanup_free char *path = imds_domain_name(uuid);
    cleanup_close int fd = fs_open_strictly_beneath(rundir, path, O_DIRECTORY);

    if (fd < 0)
        return fd;
    return fstat(fd, status) < 0 ? -errno : steal_fd(fd);
}

int
running_seed_open(int rundir, const char *uuid, struct stat *status)
{
    cleanup_free char *name = rundir_seed_name(uuid);
    int served = open_served(rundir, uuid, status);

    return served >= 0 ? served : fs_open_regular_beneath(rundir, name, status);
}

/* --- what is served --------------------------------------------------------------- */

static int
read_document(struct seed *seed, int domain, const char *path)
{
    cleanup_close int fd = fs_open_strictly_beneath(domain, path, 0);

    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    return fs_read_all(fd, LIMIT_SEED, &seed_add_document(seed, path)->data);
}

static int
read_served(int domain, struct seed *seed, struct failure **failure)
{
    static const char *const paths[] = {IMDS_META_DATA, IMDS_USER_DATA, IMDS_VENDOR_DATA,
                                        IMDS_NETWORK_CONFIG};
    int error = 0;

    *seed = (struct seed){.volume_id = xstrdup("cidata"), .served = true};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && error == 0; i++)
        error = read_document(seed, domain, paths[i]);
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_RUNDIR, error, "could not read below %s",
                             IMDS_TREE);
}

/* --- either ----------------------------------------------------------------------- */

int
running_seed_read_open(int fd, const struct stat *status, struct seed *seed,
                       struct failure **failure)
{
    return S_ISDIR(status->st_mode) ? read_served(fd, seed, failure)
                                    : iso_read(fd, seed, failure);
}

/* Return: whether what was opened has given way to another meanwhile, and is being emptied:
 * what was missing in it says nothing. */
static bool
is_being_emptied(int rundir, const char *uuid, const struct stat *opened)
{
    struct stat current;
    cleanup_close int fd = -1;

    if (!S_ISDIR(opened->st_mode))
        return false;
    fd = running_seed_open(rundir, uuid, &current);
    return fd < 0 || current.st_ino != opened->st_ino;
}

/* Return: 1 where it has to be tried again, and nothing else is set. */
static int
try_to_read(int rundir, const char *uuid, struct seed *seed, bool *found,
            struct failure **failure)
{
    struct stat status;
    cleanup_close int fd = rundir < 0 ? rundir : running_seed_open(rundir, uuid, &status);

    *found = fd != -ENOENT;
    if (!*found)
        return 0;
    if (fd < 0) {
        failure_set_errno(failure, FAILURE_RUNDIR, fd, "could not read %s/%s.iso",
                          VIRT_SEED_RUNDIR, uuid);
        return failure_hint(failure, "root may read it");
    }
    if (running_seed_read_open(fd, &status, seed, failure) < 0)
        return failure_prefix(failure, "the seed of domain %s in %s", uuid,
                              VIRT_SEED_RUNDIR);
    if (!is_being_emptied(rundir, uuid, &status))
        return 0;
    seed_clear(seed);
    return 1;
}

int
running_seed_read(int root, const char *uuid, struct seed *seed, bool *found,
                  struct failure **failure)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, VIRT_SEED_RUNDIR);

    for (int attempt = 0; attempt < IMDS_ATTEMPTS; attempt++) {
        int result = try_to_read(rundir, uuid, seed, found, failure);

        if (result <= 0)
            return result;
    }
    return failure_set(failure, FAILURE_RUNDIR,
                       "the seed of domain %s is replaced again and again", uuid);
}
