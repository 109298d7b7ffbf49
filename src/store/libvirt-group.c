/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "store/libvirt-group.h"

/* Of the one daemon, and of QEMU's own (virtqemud(8)). */
static const char *const sockets[] = {"libvirt-sock", "virtqemud-sock"};

gid_t
libvirt_group(int root)
{
    cleanup_close int directory = fs_open_directory_in_root(root, VIRT_SEED_SOCKETDIR);
    struct stat status;

    for (size_t i = 0; directory >= 0 && i < sizeof(sockets) / sizeof(sockets[0]); i++) {
        if (fstatat(directory, sockets[i], &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISSOCK(status.st_mode) && (status.st_mode & (S_IWGRP | S_IWOTH)) == S_IWGRP)
            return status.st_gid;
    }
    return geteuid() == 0 ? 0 : getegid();
}
