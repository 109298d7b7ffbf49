/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
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
read_document(struct volume *volume, int domain, const char *path)
{
    cleanup_close int fd = fs_open_strictly_beneath(domain, path, 0);
    struct volume_file *file = &volume->files[volume->file_count];
    int error = fd == -ENOENT ? 0 : fd;

    if (fd < 0)
        return error;
    volume->file_count++;
    *file = (struct volume_file){.path = xstrdup(path), .read = true};
    error = fs_read_all(fd, LIMIT_SEED, &file->data);
    file->size = file->data.size;
    return error;
}

static int
read_served(int domain, struct volume *volume, struct failure **failure)
{
    static const char *const paths[] = {IMDS_META_DATA, IMDS_USER_DATA, IMDS_VENDOR_DATA,
                                        IMDS_NETWORK_CONFIG};
    const size_t count = sizeof(paths) / sizeof(paths[0]);
    int error = 0;

    *volume = (struct volume){.label = xstrdup("cidata"),
                              .files = xcalloc(count, sizeof(*volume->files))};
    for (size_t i = 0; i < count && error == 0; i++)
        error = read_document(volume, domain, paths[i]);
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_RUNDIR, error, "could not read below %s",
                             IMDS_TREE);
}

/* --- either ----------------------------------------------------------------------- */

int
running_seed_read_volume(int seed, const struct stat *status, struct volume *volume,
                         struct failure **failure)
{
    return S_ISDIR(status->st_mode) ? read_served(seed, volume, failure)
                                    : iso_read(seed, volume, failure);
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
    cleanup_volume struct volume volume = {0};

    *found = fd != -ENOENT;
    if (!*found)
        return 0;
    if (fd < 0) {
        failure_set_errno(failure, FAILURE_RUNDIR, fd, "could not read %s/%s.iso",
                          VIRT_SEED_RUNDIR, uuid);
        return failure_hint(failure, "root may read it");
    }
    if (running_seed_read_volume(fd, &status, &volume, failure) < 0)
        return failure_prefix(failure, "the seed of domain %s in %s", uuid,
                              VIRT_SEED_RUNDIR);
    if (is_being_emptied(rundir, uuid, &status))
        return 1;
    take_documents(seed, &volume);
    seed->served = S_ISDIR(status.st_mode);
    return 0;
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
