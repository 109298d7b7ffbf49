/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "image/image.h"
#include "store/imds-tree.h"
#include "store/rundir.h"
#include "store/storage.h"

/* --- the image -------------------------------------------------------------------- */

static int
open_image(int rundir, const char *uuid, struct stat *status)
{
    cleanup_free char *name = rundir_seed_name(uuid);

    return fs_open_regular_beneath(rundir, name, status);
}

#define IN_MEMORY                                                                        \
    "the image is made in memory: check that there is enough (free -m), and for limits " \
    "on it"

int
image_open(struct failure **failure)
{
    int fd = memfd_create("seed", MFD_CLOEXEC);

    if (fd >= 0)
        return fd;
    return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                             "could not make the image\n" IN_MEMORY);
}

int
image_make(int fd, const struct seed *seed, struct failure **failure)
{
    if (iso_write(fd, seed, failure) == 0 && iso_verify(fd, seed, failure) == 0)
        return 0;
    return failure_hint(failure, IN_MEMORY);
}

int
image_publish(int dir, const char *name, const char *second, const struct qemu_user *qemu,
              int image, struct failure **failure)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL)}};
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    int error = tmpfile_open(&tmpfile, dir, name);

    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not make a file for '%s'", name);
    error = fs_copy_all(image, tmpfile.fd);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not write '%s'",
                                 name);
    if (qemu &&
        (fchmod(tmpfile.fd, 0400) < 0 || fchown(tmpfile.fd, qemu->uid, qemu->gid) < 0))
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "%s: could not give the image to user %ld", name,
                                 (long)qemu->uid);
    error = futimens(tmpfile.fd, times) < 0 ? -errno : 0;
    if (error == 0 && second)
        error = fs_link_again(dir, tmpfile.name, second);
    if (error == 0)
        error = tmpfile_publish(&tmpfile, name);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not name '%s'",
                                 name);
    return 0;
}

int
storage_publish_image(int root, int rundir, const char *uuid, bool is_start, int image,
                      struct failure **failure)
{
    cleanup_free char *name = rundir_seed_name(uuid);
    cleanup_free char *made = xasprintf("%s" SEED_MADE_SUFFIX, uuid);
    const struct qemu_user qemu = qemu_user_find(root);

    if (image_publish(rundir, name, is_start ? made : NULL, &qemu, image, failure) == 0)
        return 0;
    failure_prefix(failure, "%s", VIRT_SEED_RUNDIR);
    return failure_hint(failure, "check that it is writable and has free space: df %s",
                        VIRT_SEED_RUNDIR);
}

bool
storage_image_is_as_made(int rundir, const char *uuid, bool is_expected)
{
    cleanup_free char *name = rundir_seed_name(uuid);
    cleanup_free char *made = xasprintf("%s" SEED_MADE_SUFFIX, uuid);
    struct stat noted, present;

    if (fstatat(rundir, made, &noted, AT_SYMLINK_NOFOLLOW) < 0)
        return !is_expected;
    unlinkat(rundir, made, 0);
    if (fstatat(rundir, name, &present, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return present.st_ino == noted.st_ino && noted.st_mtim.tv_nsec == 0;
}

const struct storage storage_image = {
    .kind = "on a disk",
    .location = "in its drive",
    .has_image = true,
    .name = rundir_seed_name,
    .open = open_image,
    .read = iso_read,
    .withdraw = rundir_remove_seed,
};

/* --- the metadata server's tree --------------------------------------------------- */

static char *
name_documents(const char *uuid)
{
    return xasprintf(IMDS_TREE_NAME "/%s", uuid);
}

static int
open_documents(int rundir, const char *uuid, struct stat *status)
{
    cleanup_free char *path = name_documents(uuid);
    cleanup_close int fd = fs_open_strictly_beneath(rundir, path, O_DIRECTORY);

    if (fd < 0)
        return fd;
    return fstat(fd, status) < 0 ? -errno : steal_fd(fd);
}

static int
read_documents(int directory, struct seed *seed, struct failure **failure)
{
    static const char *const paths[] = {IMDS_META_DATA, IMDS_USER_DATA, IMDS_VENDOR_DATA,
                                        IMDS_NETWORK_CONFIG};
    int error = 0;

    *seed = (struct seed){.label = xstrdup(SEED_LABEL_NOCLOUD)};
    for (size_t i = 0; i < ARRAY_SIZE(paths) && error == 0; i++) {
        cleanup_close int fd = fs_open_strictly_beneath(directory, paths[i], 0);

        if (fd >= 0)
            error = fs_read_all(fd, LIMIT_SEED, &seed_add_document(seed, paths[i])->data);
        else if (fd != -ENOENT)
            error = fd;
    }
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_RUNDIR, error, "could not read below %s",
                             IMDS_TREE);
}

const struct storage storage_imds = {
    .kind = "that is served",
    .location = "at its URL",
    .datasource = "nocloud-net",
    .name = name_documents,
    .open = open_documents,
    .read = read_documents,
    .withdraw = imds_tree_remove,
};

/* --- whichever has a seed --------------------------------------------------------- */

const struct storage *const storages[] = {&storage_imds, &storage_image, NULL};

ino_t
storage_inode(const struct storage *storage, int rundir, const char *uuid)
{
    cleanup_free char *name = storage->name(uuid);
    struct stat status;

    return fstatat(rundir, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : status.st_ino;
}

int
storage_open(int rundir, const char *uuid, const struct storage **storage,
             struct stat *status)
{
    int fd = -ENOENT;

    for (size_t i = 0; storages[i] && fd < 0; i++) {
        *storage = storages[i];
        fd = storages[i]->open(rundir, uuid, status);
    }
    return fd;
}

int
storage_read(int root, const char *uuid, const struct storage **storage,
             struct seed *seed, struct failure **failure)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, VIRT_SEED_RUNDIR);
    const struct storage *place = NULL;

    *storage = NULL;
    for (int attempt = 0; attempt < IMDS_ATTEMPTS; attempt++) {
        const struct storage *place_again;
        struct stat opened, current;
        cleanup_close int fd =
            rundir < 0 ? rundir : storage_open(rundir, uuid, &place, &opened);
        cleanup_close int again = -1;

        if (fd == -ENOENT)
            return 0;
        if (fd < 0)
            return failure_set_errno(failure, FAILURE_RUNDIR, fd,
                                     "could not read the seed of domain %s in %s\n"
                                     "run the command as root",
                                     uuid, VIRT_SEED_RUNDIR);
        if (place->read(fd, seed, failure) < 0)
            return failure_prefix(failure, "the seed of domain %s in %s", uuid,
                                  VIRT_SEED_RUNDIR);
        /* An open image stays whole, but a directory that was replaced in the meantime may
         * have been read while it was emptied. */
        if (!place->has_image)
            again = storage_open(rundir, uuid, &place_again, &current);
        if (place->has_image || (again >= 0 && current.st_ino == opened.st_ino)) {
            *storage = place;
            return 0;
        }
        seed_clear(seed);
    }
    return failure_set(failure, FAILURE_RUNDIR,
                       "the seed of domain %s keeps being replaced", uuid);
}
