/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding a secret to the host's (store/secret.h). */
#pragma once

#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"

struct secret_key {
    char *name;
    struct buffer content;
};

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
