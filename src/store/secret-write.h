/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets that a command makes (host/secret.h), and passwords that it sets for a domain
 * (host/domain-secret.h). */
#pragma once

#include "base/fs.h"
#include "domain/part.h"

struct secret_key {
    char *name;
    struct buffer content;
};

/*
 * Writes the keys as /etc/virt-seed/secrets/NAME/KEY, below `root`; makes directories
 * with mode 0700 and files with 0600, each file atomically. If the secret exists, it must
 * have all of the keys with the same content; else this fails, and no key is written.
 */
int secret_write(int root, const char *name, const struct secret_key *keys,
                 size_t key_count, struct failure **failure);

/* --- passwords of a domain ------------------------------------------------------------ */

enum {
    PASSWORD_OF_USER, /* the default user */
    PASSWORD_OF_ROOT,
    PASSWORD_COUNT
};

/* New hashes. They replace the old ones when the domain that asks for them is defined, and
 * not before: the command may fail. */
struct new_passwords {
    char *hashes[PASSWORD_COUNT]; /* NULL if there is no new one; owned */
    int directory;
    struct tmpfile files[PASSWORD_COUNT];
};

#define NEW_PASSWORDS_NONE                                                               \
    ((struct new_passwords){.directory = -1, .files = {TMPFILE_NONE, TMPFILE_NONE}})

/* Writes them to the disk, under temporary names. */
int new_passwords_write(struct new_passwords *passwords, int root, const char *uuid,
                        struct failure **failure);

/* Gives them their names. */
int new_passwords_publish(struct new_passwords *passwords, struct failure **failure);

/* Removes what was not published. */
void new_passwords_clear(struct new_passwords *passwords);

#define cleanup_new_passwords __attribute__((cleanup(new_passwords_clear)))

/* Removes the hashes that the request does not ask for, as far as the caller may. */
void passwords_remove_unused(int root, const char *uuid, const struct parts *parts);
