/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An image under its final name: whole and verified, or not at all. */
#pragma once

#include <sys/types.h>

#include "base/failure.h"
#include "seed/seed.h"

/* Who gets the file; (uid_t)-1 and (gid_t)-1 leave it with the caller. */
struct image_owner {
    uid_t uid;
    gid_t gid;
};

#define IMAGE_OWNER_CALLER ((struct image_owner){(uid_t)-1, (gid_t)-1})

/*
 * Writes the seed's image into a temporary file below `dir`, reads it back, and renames
 * it to `name`, with mode 0600. On failure what was under the name before is still
 * there.
 */
int image_publish(int dir, const char *name, const struct image_owner *owner,
                  const struct seed *seed, struct failure **failure);
