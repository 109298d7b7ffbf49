/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "store/libvirt-daemon.h"
#include "store/libvirt-group.h"

#define POLKIT_GROUP "libvirt"

static gid_t
nobody_else(void)
{
    return geteuid() == 0 ? 0 : getegid();
}

/* getgrnam(3) would load NSS's modules into each start of a domain. */
static gid_t
polkit_group(int root)
{
    cleanup_close int etc = fs_open_directory_in_root(root, "/etc");
    int fd = etc < 0 ? etc : fs_open_regular_beneath(etc, "group", NULL);
    cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    struct group *group;

    if (fd >= 0 && !file)
        close(fd);
    while (file && (group = fgetgrent(file))) {
        if (strcmp(group->gr_name, POLKIT_GROUP) == 0)
            return group->gr_gid;
    }
    return nobody_else();
}

gid_t
libvirt_group(int root)
{
    cleanup_close int directory = fs_open_directory_in_root(root, VIRT_SEED_SOCKETDIR);
    struct stat status;

    for (size_t i = 0; directory >= 0 && i < LIBVIRT_DAEMONS; i++) {
        if (fstatat(directory, libvirt_daemons[i].socket, &status, AT_SYMLINK_NOFOLLOW) <
                0 ||
            !S_ISSOCK(status.st_mode) || !(status.st_mode & S_IWGRP))
            continue;
        return status.st_mode & S_IWOTH ? polkit_group(root) : status.st_gid;
    }
    return nobody_else();
}
