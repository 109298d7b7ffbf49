/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fgetpwent(3) makes two system calls for each line, at each start of a domain.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/user.h"

/* The fields of passwd(5) and group(5) that are read; both begin in the same way. */
enum field {
    FIELD_NAME,
    FIELD_PASSWORD,
    FIELD_ID,
    FIELD_GROUP,
    FIELD_COMMENT,
    FIELD_HOME,
    FIELD_COUNT,
};

/* Reads the file, and finds the first line in which the field has the value. `fields` are
 * its fields, "" for those that it lacks, and borrowed from the text. */
static bool
find_line(int root, const char *path, enum field field, const char *value,
          struct buffer *text, const char *fields[FIELD_COUNT])
{
    char *rest;

    if (fs_read_in_root(root, path, LIMIT_ACCOUNTS, text) < 0)
        return false;
    rest = text->data;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        for (int i = 0; i < FIELD_COUNT; i++)
            fields[i] = line ? strsep(&line, ":") : "";
        if (strcmp(fields[field], value) == 0)
            return true;
    }
    return false;
}

/* Return: whether it is the number of a user or a group. */
static bool
read_id(const char *text, id_t *id)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);

    *id = (id_t)number;
    return *text >= '0' && *text <= '9' && !*end && number < (id_t)-1;
}

struct user
user_find(int root, const char *name)
{
    struct user user = {.uid = NOBODY, .gid = NOBODY};
    cleanup_buffer struct buffer text = {0};
    const char *fields[FIELD_COUNT];
    id_t uid, gid;

    if (!find_line(root, "/etc/passwd", FIELD_NAME, name, &text, fields))
        return user;
    /* Another name of root's is a mistake. */
    if (read_id(fields[FIELD_ID], &uid) && read_id(fields[FIELD_GROUP], &gid) && uid != 0)
        user = (struct user){.is_known = true, .uid = uid, .gid = gid};
    return user;
}

char *
user_find_home(int root, uid_t user)
{
    cleanup_free char *id = xasprintf("%lu", (unsigned long)user);
    cleanup_buffer struct buffer text = {0};
    const char *fields[FIELD_COUNT];

    if (!find_line(root, "/etc/passwd", FIELD_ID, id, &text, fields))
        return NULL;
    return xstrdup(fields[FIELD_HOME]);
}

gid_t
group_find(int root, const char *name, gid_t otherwise)
{
    cleanup_buffer struct buffer text = {0};
    const char *fields[FIELD_COUNT];
    id_t id;

    if (find_line(root, "/etc/group", FIELD_NAME, name, &text, fields) &&
        read_id(fields[FIELD_ID], &id))
        return id;
    return otherwise;
}
