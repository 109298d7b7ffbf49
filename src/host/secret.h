/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's secrets: /etc/virt-seed/secrets/NAME/KEY, one file for each key, the layout
 * of a mounted Kubernetes Secret. Directories and files belong to root (or the caller)
 * and are closed to others; symbolic links stay within NAME. The file NAME/allow lists
 * the domains that may use the secret, by UUID or name pattern; without it, every domain
 * may.
 */
#pragma once

#include "base/base.h"

/* The domain that a secret is read for; borrowed. */
struct secret_user {
    const char *uuid;
    const char *name;
};

/* Check the name of a secret (`what` is its attribute) or of a key. */
int secret_check_name(const char *what, const char *name, struct failure **failure);
int secret_check_key(const char *key, struct failure **failure);

/* Fails unless the opened file belongs to root or the caller and is closed to others. */
int secret_check_closed(int fd, const char *path, struct failure **failure);

/* Opens a directory of secrets at the absolute path below `root`, which must be closed to
 * others. Return: a descriptor, owned by the caller, or -1. */
int secret_open_directory(int root, const char *path, struct failure **failure);

/* Appends the content of the file `name` below the directory; the file must be closed to
 * others and have at most `limit` bytes. Messages call it `path`. */
int secret_read_file(int directory, const char *name, const char *path, size_t limit,
                     struct buffer *content, struct failure **failure);

/*
 * Appends the content of the first of the keys (ended by NULL) that exists; `found` gets
 * that key (borrowed from `keys`). No message contains content.
 */
int secret_read(int root, const struct secret_user *user, const char *name,
                const char *const *keys, struct buffer *content, const char **found,
                struct failure **failure);

/*
 * Reads all keys of the secret, sorted by name; `take` gets each and takes over its
 * content. Skips names that begin with a dot and the list of domains.
 */
int secret_read_all(int root, const struct secret_user *user, const char *name,
                    void (*take)(void *data, const char *key, struct buffer *content),
                    void *data, struct failure **failure);

/* --- writing ------------------------------------------------------------------------ */

/* Sets the failure "could not `what` `path`". Return: -1. */
int secret_fail(const char *what, const char *path, int error, struct failure **failure);

/* Opens the directory at the absolute path below `root`, which must be closed to others;
 * makes it with mode 0700 if it is missing. Return: a descriptor, owned by the caller, or
 * -1. */
int secret_make_directory(int root, const char *path, struct failure **failure);
