/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user that QEMU runs as: the owner of libvirt's own directory for it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct qemu_user {
    bool known; /* else there is no such directory, or it cannot be looked at */
    uid_t uid;
    gid_t gid;
};

/* Finds it on the host whose "/" is the directory `root`. */
struct qemu_user qemu_user_find(int root);
