/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/texts.h"
#include "domain/guest-value.h"
#include "domain/initialization-users.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* What oVirt's API prints in the place of a password. */
#define OVIRT_MASK "******"

struct user_reading {
    struct parts *parts;
    char *name;
    char *key;
    struct part *password;
};

static bool
is_root(const char *name)
{
    return strcmp(name, "root") == 0;
}

static int
read_name(void *data, const xmlNode *node, struct failure **failure)
{
    struct user_reading *user = data;

    return vocabulary_read_word(&user->name, node, guest_value_is_user_name,
                                GUEST_VALUE_USER_NAME, failure);
}

/* Return: the user of that name, added where there is none; NULL when there are too many. */
static struct initialization_user *
find_user(struct initialization *initialization, const char *name, const xmlNode *node,
          struct failure **failure)
{
    struct initialization_user *user;

    for (size_t i = 0; i < initialization->user_count; i++) {
        if (strcmp(initialization->users[i].name, name) == 0)
            return &initialization->users[i];
    }
    if (initialization->user_count == LIMIT_USERS) {
        vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                        "at most 64 users");
        return NULL;
    }
    initialization->users =
        xreallocarray(initialization->users, initialization->user_count + 1,
                      sizeof(*initialization->users));
    user = &initialization->users[initialization->user_count++];
    *user = (struct initialization_user){.name = xstrdup(name)};
    return user;
}

/* --- passwords ---------------------------------------------------------------------- */

static int
read_password(void *data, const xmlNode *node, struct failure **failure)
{
    struct user_reading *user = data;
    struct part *part = parts_add(user->parts, PART_VALUE, node, failure);
    cleanup_free char *word = part ? part_word(part) : NULL;

    if (!part)
        return -1;
    if (part->origin == PART_INLINE && strcmp(word, OVIRT_MASK) == 0)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has the stars that oVirt prints in place of a password",
                               "write the password, or better secret=\"NAME\"");
    user->password = part;
    return 0;
}

static int
set_password(struct part **slot, struct part *password, const xmlNode *node,
             const char *name, struct failure **failure)
{
    if (!password)
        return 0;
    if (*slot) {
        failure_set(failure, FAILURE_REQUEST, "<%s> gives '%s' a second password",
                    node->name, name);
        failure_at_line(failure, xml_line(node));
        return failure_hint(failure, "keep one of them");
    }
    *slot = password;
    return 0;
}

int
initialization_read_root_password(struct initialization *initialization,
                                  const xmlNode *node, struct parts *parts,
                                  struct failure **failure)
{
    struct user_reading root = {.parts = parts};

    if (read_password(&root, node, failure) < 0)
        return -1;
    return set_password(&initialization->root_password, root.password, node, "root",
                        failure);
}

static int
add_user(struct initialization *initialization, const struct user_reading *reading,
         const xmlNode *node, struct failure **failure)
{
    struct initialization_user *user;

    if (!reading->name)
        return vocabulary_fail(node, failure, FAILURE_REQUEST, "has no <user_name>",
                               "write <user_name>NAME</user_name>");
    if (is_root(reading->name))
        return set_password(&initialization->root_password, reading->password, node,
                            "root", failure);
    user = find_user(initialization, reading->name, node, failure);
    if (!user)
        return -1;
    return set_password(&user->password, reading->password, node, user->name, failure);
}

struct users_reading {
    struct initialization *initialization;
    struct parts *parts;
};

static int
read_user(void *data, const xmlNode *node, struct failure **failure)
{
    static const struct vocabulary_element elements[] = {
        {"user_name", read_name, {NULL}, 0},
        {"password", read_password, {"secret", "key", NULL}, 0},
        {0},
    };
    struct users_reading *users = data;
    struct user_reading user = {.parts = users->parts};
    int result = vocabulary_read_children(node, elements, &user, failure);

    if (result == 0)
        result = add_user(users->initialization, &user, node, failure);
    free(user.name);
    return result;
}

int
initialization_read_users(struct initialization *initialization, const xmlNode *node,
                          struct parts *parts, struct failure **failure)
{
    static const struct vocabulary_element elements[] = {
        {"user", read_user, {NULL}, VOCABULARY_CHILDREN | VOCABULARY_SEVERAL},
        {0},
    };
    struct users_reading users = {.initialization = initialization, .parts = parts};

    return vocabulary_read_children(node, elements, &users, failure);
}

/* --- keys --------------------------------------------------------------------------- */

/* Takes the key over. */
static int
append_key(char ***keys, size_t *count, char *key, const xmlNode *node,
           struct failure **failure)
{
    cleanup_free char *owned = key;

    if (*count == LIMIT_SSH_KEYS)
        return vocabulary_fail(node, failure, FAILURE_LIMIT, "has one of too many keys",
                               "at most 256 keys of one user");
    texts_add(keys, count, steal(owned));
    return 0;
}

static int
read_key(void *data, const xmlNode *node, struct failure **failure)
{
    struct user_reading *user = data;

    user->key = vocabulary_word(node);
    if (ssh_key_check(user->key, failure) == 0)
        return 0;
    failure_prefix(failure, "<authorized_key>");
    return failure_at_line(failure, xml_line(node));
}

static int
read_key_owner(void *data, const xmlNode *node, struct failure **failure)
{
    static const struct vocabulary_element elements[] = {
        {"user_name", read_name, {NULL}, 0},
        {0},
    };

    return vocabulary_read_children(node, elements, data, failure);
}

/* oVirt's keys are root's, where nobody is named. */
static int
add_key(struct initialization *initialization, struct user_reading *reading,
        const xmlNode *node, struct failure **failure)
{
    struct initialization_user *user;

    if (!reading->key)
        return vocabulary_fail(node, failure, FAILURE_SSH_KEY, "has no <key>",
                               "write <key>ssh-ed25519 AAAA…</key>");
    if (!reading->name || is_root(reading->name))
        return append_key(&initialization->ssh_keys, &initialization->ssh_key_count,
                          steal(reading->key), node, failure);
    user = find_user(initialization, reading->name, node, failure);
    if (!user)
        return -1;
    return append_key(&user->ssh_keys, &user->ssh_key_count, steal(reading->key), node,
                      failure);
}

static int
read_authorized_key(void *data, const xmlNode *node, struct failure **failure)
{
    static const struct vocabulary_element elements[] = {
        {"user", read_key_owner, {NULL}, VOCABULARY_CHILDREN},
        {"key", read_key, {NULL}, 0},
        {0},
    };
    struct user_reading user = {0};
    int result = vocabulary_read_children(node, elements, &user, failure);

    if (result == 0)
        result = add_key(data, &user, node, failure);
    free(user.name);
    free(user.key);
    return result;
}

int
initialization_read_authorized_keys(struct initialization *initialization,
                                    const xmlNode *node, struct failure **failure)
{
    static const struct vocabulary_element elements[] = {
        {"authorized_key",
         read_authorized_key,
         {NULL},
         VOCABULARY_CHILDREN | VOCABULARY_SEVERAL},
        {0},
    };

    return vocabulary_read_children(node, elements, initialization, failure);
}

int
initialization_read_authorized_ssh_keys(struct initialization *initialization,
                                        const xmlNode *node, struct failure **failure)
{
    cleanup_free char *text = xml_text(node);
    char *rest = text;
    int number = 0;

    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        number++;
        line += strspn(line, " \t\r");
        line[strcspn(line, "\r")] = '\0';
        if (*line == '\0' || *line == '#')
            continue;
        if (ssh_key_check(line, failure) < 0) {
            failure_prefix(failure, "<%s>: line %d", node->name, number);
            return failure_at_line(failure, xml_line(node));
        }
        if (append_key(&initialization->ssh_keys, &initialization->ssh_key_count,
                       xstrdup(line), node, failure) < 0)
            return -1;
    }
    return 0;
}
