/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/process.h"
#include "host/user.h"

static struct user
find_in(FILE *file, const char *name)
{
    const struct user nobody = {.uid = NOBODY, .gid = NOBODY};
    const struct passwd *entry;

    while (file && (entry = fgetpwent(file))) {
        /* Another name of root's is a mistake. */
        if (strcmp(entry->pw_name, name) == 0 && entry->pw_uid != 0)
            return (struct user){
                .is_known = true, .uid = entry->pw_uid, .gid = entry->pw_gid};
    }
    return nobody;
}

struct user
user_find(const char *name)
{
    cleanup_fclose FILE *file = fopen("/etc/passwd", "re");

    return find_in(file, name);
}

struct user
user_find_in_root(int root, const char *name)
{
    const int fd = fs_open_regular_beneath(root, "etc/passwd", NULL);
    cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

    return find_in(file, name);
}
