/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libisofs, as every file here needs it: started once, its objects released by scope. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define LIBISOFS_WITHOUT_LIBBURN 1
#include <libisofs/libisofs.h>

#include "base/failure.h"

#define ISO_BLOCK 2048

/* Starts the library on its first call. */
int libisofs_start(struct failure **failure);

/* Sets a failure that names the step and libisofs's own words for its error code. */
int libisofs_fail(struct failure **failure, int code, const char *step);

static inline void
iso_image_pointer(IsoImage **image)
{
    if (*image)
        iso_image_unref(*image);
}

#define cleanup_iso_image __attribute__((cleanup(iso_image_pointer)))
