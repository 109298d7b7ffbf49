/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's secrets: /etc/virt-seed/secrets/NAME/KEY, one file a key, the layout of a
 * mounted Kubernetes Secret. Directories and files belong to root (or the caller) and
 * are closed to others; symbolic links stay within NAME. A file NAME/allow lists the
 * domains that may use the secret, by UUID or by a pattern of names; without it every
 * domain may.
 */
#pragma once

#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/domain.h"

#define SECRET_DIRECTORY VIRT_SEED_CONFDIR "/secrets"

/* The name of a secret (`what` is the attribute that has it), or of a key. */
int secret_check_name(const char *what, const char *name, struct failure **failure);
int secret_check_key(const char *key, struct failure **failure);

/* What is opened may be read by root and its owner alone. */
int secret_check_closed(int fd, const char *path, struct failure **failure);

/* Opens a directory of secrets at the absolute path below `root`, which must be closed to
 * others. Return: a descriptor, owned by the caller, or -1. */
int secret_open_directory(int root, const char *path, struct failure **failure);

/* Appends the content of the file `name` below the directory, which must be closed to
 * others and has at most `limit` bytes; messages call it `path`. */
int secret_read_file(int directory, const char *name, const char *path, size_t limit,
                     struct buffer *content, struct failure **failure);

/*
 * Appends the content of the first of the keys that is there; NULL ends them.
 * `found`, where not NULL, gets the key (borrowed from `keys`). No message holds content.
 */
int secret_read(int root, const struct domain *domain, const char *name,
                const char *const *keys, struct buffer *content, const char **found,
                struct failure **failure);

/*
 * Reads all keys of the secret, in the order of their names; `take` gets each, and takes
 * its content over. Names that begin with a dot and the list of domains are none.
 */
int secret_read_all(int root, const struct domain *domain, const char *name,
                    void (*take)(void *data, const char *key, struct buffer *content),
                    void *data, struct failure **failure);

/* --- writing ------------------------------------------------------------------------ */

struct secret_key {
    char *name;
    struct buffer content;
};

/* Fails: "could not `what` `path`". */
int secret_fail(const char *what, const char *path, int error, struct failure **failure);

/* Opens the directory at the absolute path below `root`, made with mode 0700 where it is
 * missing, which must be closed to others. Return: a descriptor, owned by the caller, or
 * -1. */
int secret_make_directory(int root, const char *path, struct failure **failure);

/*
 * Writes the keys as /etc/virt-seed/secrets/NAME/KEY, below `root`; directories are made
 * with mode 0700, files with 0600, each appears whole. A key that is there already stays
 * when its content is the same; otherwise this is a failure, and no key is written.
 */
int secret_write(int root, const char *name, const struct secret_key *keys,
                 size_t key_count, struct failure **failure);

/* Writes one key in the same way, in the place of what was there. */
int secret_replace(int root, const char *name, const struct secret_key *key,
                   struct failure **failure);
