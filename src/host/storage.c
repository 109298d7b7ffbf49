/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/mman.h>

#include "base/fs.h"
#include "base/names.h"
#include "host/imds-tree.h"
#include "host/rundir.h"
#include "host/storage.h"

/* --- the image -------------------------------------------------------------------- */

int
image_open(struct failure **failure)
{
    int fd = memfd_create("seed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0)
        return fd;
    return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                             "could not make the image\n" IMAGE_IN_MEMORY);
}

int
image_publish(int dir, const char *name, const char *second, const struct user *qemu,
              int image, struct failure **failure)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL)}};
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    int error = tmpfile_open(&tmpfile, dir, name);

    if (error == 0)
        error = fs_copy_all(image, tmpfile.fd);
    /* QEMU's user must never be able to write to it. */
    if (error == 0 && qemu && fchmod(tmpfile.fd, 0400) < 0)
        error = -errno;
    if (error == 0 && qemu && fchown(tmpfile.fd, qemu->uid, qemu->gid) < 0)
        error = -errno;
    if (error == 0 && futimens(tmpfile.fd, times) < 0)
        error = -errno;
    if (error == 0 && second)
        error = fs_link_again(dir, tmpfile.name, second);
    if (error == 0)
        error = tmpfile_publish(&tmpfile, name);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not write '%s'",
                                 name);
    return 0;
}

int
storage_publish_image(int root, int rundir, const char *uuid, bool is_start, int image,
                      struct failure **failure)
{
    cleanup_free char *name = rundir_seed_name(uuid);
    cleanup_free char *made = xasprintf("%s" SEED_MADE_SUFFIX, uuid);
    const struct user qemu = qemu_user_find(root);

    if (image_publish(rundir, name, is_start ? made : NULL, &qemu, image, failure) == 0)
        return 0;
    failure_prefix(failure, "%s", scope()->rundir);
    return failure_hint(failure, "check that it is writable and has free space: df %s",
                        scope()->rundir);
}

bool
storage_image_take_made(int rundir, const char *uuid, bool is_expected)
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
    .name = rundir_seed_name,
    .withdraw = rundir_remove_seed,
};

/* --- the metadata server's tree --------------------------------------------------- */

static char *
name_documents(const char *uuid)
{
    return xasprintf(IMDS_TREE_NAME "/%s", uuid);
}

const struct storage storage_imds = {
    .name = name_documents,
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
