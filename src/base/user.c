/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <grp.h>
#include <pwd.h>

#include "base/fs.h"
#include "base/user.h"

/* Opens the file's content, which `text` keeps: on the file itself, fgetpwent(3) makes two
 * system calls for each line, at each start of a domain. Return: NULL if there is none. */
static FILE *
open_accounts(int root, const char *path, struct buffer *text)
{
    if (fs_read_in_root(root, path, LIMIT_ACCOUNTS, text) < 0 || text->size == 0)
        return NULL;
    return fmemopen(text->data, text->size, "r");
}

/* Return: the first line with that name, or without one (NULL) with that uid; NULL if there is
 * none. The C library's, until the next is found. */
static const struct passwd *
find_account(int root, const char *name, uid_t uid)
{
    cleanup_buffer struct buffer text = {0};
    cleanup_fclose FILE *file = open_accounts(root, "/etc/passwd", &text);
    const struct passwd *entry;

    while (file && (entry = fgetpwent(file))) {
        if (name ? strcmp(entry->pw_name, name) == 0 : entry->pw_uid == uid)
            return entry;
    }
    return NULL;
}

struct user
user_find(int root, const char *name)
{
    const struct passwd *entry = find_account(root, name, 0);

    /* Another name of root's is a mistake. */
    if (!entry || entry->pw_uid == 0)
        return (struct user){.uid = NOBODY, .gid = NOBODY};
    return (struct user){.is_known = true, .uid = entry->pw_uid, .gid = entry->pw_gid};
}

char *
user_find_home(int root, uid_t user)
{
    const struct passwd *entry = find_account(root, NULL, user);

    return entry ? xstrdup(entry->pw_dir) : NULL;
}

gid_t
group_find(int root, const char *name, gid_t otherwise)
{
    cleanup_buffer struct buffer text = {0};
    cleanup_fclose FILE *file = open_accounts(root, "/etc/group", &text);
    const struct group *entry;

    while (file && (entry = fgetgrent(file))) {
        if (strcmp(entry->gr_name, name) == 0)
            return entry->gr_gid;
    }
    return otherwise;
}
