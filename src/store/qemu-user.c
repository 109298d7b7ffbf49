/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "store/qemu-user.h"

struct qemu_user
qemu_user_find(int root)
{
    cleanup_close int home = fs_open_directory_in_root(root, VIRT_SEED_QEMU_HOME);
    struct stat status;

    if (home < 0 || fstat(home, &status) < 0)
        return (struct qemu_user){.known = false};
    return (struct qemu_user){.known = true, .uid = status.st_uid, .gid = status.st_gid};
}
