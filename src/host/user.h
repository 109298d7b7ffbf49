/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users of this system, looked up without the modules of NSS that getpwnam(3) loads. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Who runs the maker, and the metadata server (scripts/systemd). */
#define MAKER_USER "virt-seed"
#define IMDS_USER "virt-seed-imds"

struct user {
    bool is_known;
    uid_t uid;
    gid_t gid;
};

/* Return: the user in /etc/passwd; nobody if there is none. */
struct user user_find(const char *name);
/* The same below `root`, a directory that stands for the host's "/". */
struct user user_find_in_root(int root, const char *name);
