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

/* --- undoing ------------------------------------------------------------------------ */

/* The secrets that a command makes, which are removed if it fails. */
struct secret_undo {
    int root;
    char **names;
    size_t count;
};

/* Notes the name before it is written, unless there is such a secret. */
void secret_undo_note(struct secret_undo *undo, const char *name);

/* Removes what was noted, as far as possible; nothing after secret_undo_drop(). */
void secret_undo_all(struct secret_undo *undo);
void secret_undo_drop(struct secret_undo *undo);

#define cleanup_secret_undo __attribute__((cleanup(secret_undo_all)))
