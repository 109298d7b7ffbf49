/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/scope.h"
#include "host/libvirt-host.h"

/* --- who may use it ----------------------------------------------------------------- */

#define POLKIT_GROUP "libvirt"

gid_t
libvirt_group(int root)
{
    /* libvirt-sock may be virtproxyd's. */
    static const char *const sockets[] = {"virtqemud-sock", "libvirt-sock"};
    const char *path = scope()->socketdir;
    cleanup_close int directory = path ? fs_open_directory_in_root(root, path) : -1;
    gid_t group = geteuid() == 0 ? 0 : getegid();
    struct stat status;

    for (size_t i = 0; directory >= 0 && i < ARRAY_SIZE(sockets); i++) {
        if (fstatat(directory, sockets[i], &status, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISSOCK(status.st_mode) || !(status.st_mode & S_IWGRP))
            continue;
        if (status.st_mode & S_IWOTH)
            return group_find(root, POLKIT_GROUP, group);
        return status.st_gid;
    }
    return group;
}

/* --- its QEMU driver ---------------------------------------------------------------- */

struct user
qemu_user_find(int root)
{
    const char *path = scope()->qemu_home;
    cleanup_close int home = path ? fs_open_directory_in_root(root, path) : -1;
    struct stat status;

    if (home < 0 || fstat(home, &status) < 0)
        return (struct user){.is_known = !path, .uid = geteuid(), .gid = getegid()};
    return (struct user){.is_known = true, .uid = status.st_uid, .gid = status.st_gid};
}
