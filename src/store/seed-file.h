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
