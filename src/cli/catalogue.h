/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The catalogue of images that `virt-seed new` knows by name, virt-seed-images(5): a file
 * NAME.conf for each, with lines of `key = value`, in /usr/share/virt-seed/images.d, and in
 * images.d of the configuration's directories. A later one replaces the earlier one of the
 * same name.
 */
#pragma once

#include "base/base.h"

struct image {
    char *name;
    char *url;       /* for this machine's architecture; NULL if there is none */
    char *checksums; /* URL of a file with its SHA-256 or SHA-512 */
    char *osinfo;    /* identifiers of libosinfo, the best first, divided by blanks */
    char *user;      /* that it is set up for; NULL if that is not said */
};

/* Finds the image of that name; fails if there is none. */
int catalogue_find(struct image *image, int root, const char *name,
                   struct failure **failure);

/* Lists the names of all, sorted; the list is texts_free()'s. */
int catalogue_list(int root, char ***names, size_t *count, struct failure **failure);

void image_clear(struct image *image);

#define cleanup_image __attribute__((cleanup(image_clear)))
