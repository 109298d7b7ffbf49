/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds as files (host/storage.h): made for a start, and read back. */
#pragma once

#include "host/documents.h"
#include "host/storage.h"

/* Writes the seed's image to the file, which must be empty, and reads it back. */
int image_make(int fd, const struct seed *seed, struct failure **failure);

/*
 * Reads the domain's seed below `root`; `storage` gets its storage, or NULL if there is
 * no seed, as when the domain is not running. Return: 0, or -1 if the seed cannot be
 * read.
 */
int storage_read(int root, const char *uuid, const struct storage **storage,
                 struct seed *seed, struct failure **failure);

/* Return: whether both have the same label and the same documents. */
bool seed_is_same(const struct seed *one, const struct seed *other);

/* --- which storage it is -------------------------------------------------------------- */

/* Return: whether it has a file of QEMU's user. */
static inline bool
storage_has_image(const struct storage *storage)
{
    return storage == &storage_image;
}

/* Return: where it is, after "a seed", and for a running guest. */
static inline const char *
storage_kind(const struct storage *storage)
{
    return storage_has_image(storage) ? "on a disk" : "that is served";
}

static inline const char *
storage_location(const struct storage *storage)
{
    return storage_has_image(storage) ? "in its drive" : "at its URL";
}
