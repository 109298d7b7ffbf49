/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets that a command makes (host/secret.h). */
#pragma once

#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"

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
