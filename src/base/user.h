/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users and groups of this system, looked up without the modules of NSS that getpwnam(3)
 * loads. `root` is the directory used as the host's "/". */
#pragma once

#include "base/base.h"

/* Who runs the maker, and the metadata server (scripts/systemd). */
#define MAKER_USER "virt-seed"
#define IMDS_USER "virt-seed-imds"

/* The user, and the group, that own nothing. */
#define NOBODY 65534U

struct user {
    bool is_known;
    uid_t uid;
    gid_t gid;
};

/* Return: the user of that name in /etc/passwd, but not root; not known, and with the ids of the
 * user who owns nothing, if there is none. */
struct user user_find(int root, const char *name);

/* Return: the home that /etc/passwd has for the user, owned by the caller (free), or NULL. */
char *user_find_home(int root, uid_t user);

/* Return: the group in /etc/group, or `otherwise`. */
gid_t group_find(int root, const char *name, gid_t otherwise);
