/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images read back: ours, to verify them, and those of other tools, which may be anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"

struct volume_file {
    char *path; /* below the volume's root, no leading slash */
    size_t size;
    bool read;          /* whether the content is here: regular files up to LIMIT_SEED */
    struct buffer data; /* empty where it is not */
};

/* A volume: its label and its files, in the order of the image. */
struct volume {
    char *label;
    struct volume_file *files;
    size_t file_count;
};

/*
 * Reads the ISO 9660 image in the file, by Rock Ridge or Joliet names where it has them.
 * An image that is larger than a seed can be, has more files, or is nested deeper, is a
 * failure; so is a name that could lead out of a directory.
 */
int iso_read(int fd, struct volume *volume, struct failure **failure);

/* Return: the file at `path`, or NULL. */
const struct volume_file *volume_find(const struct volume *volume, const char *path);

void volume_clear(struct volume *volume);

#define cleanup_volume __attribute__((cleanup(volume_clear)))
