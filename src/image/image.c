/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Images of either type; apart from label.c, which programs use that read no images. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "image/image.h"

int
image_read(int fd, struct seed *seed, struct failure **failure)
{
    cleanup_free char *type = NULL;
    cleanup_free char *label = label_read(fd, &type);

    return type && strcmp(type, "vfat") == 0 ? vfat_read(fd, label, seed, failure)
                                             : iso_read(fd, seed, failure);
}
