/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gzip (RFC 1952), which cloud-init takes user-data in (util.decomp_gzip). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"

/* Return: whether the data begins as a gzip file does. */
bool gzip_is(const char *data, size_t size);

/*
 * Appends what the data holds, all members of it, at most LIMIT_SEED bytes. Damage, bytes
 * after the end, and more than the limit are failures.
 */
int gzip_read(struct buffer *buffer, const char *data, size_t size,
              struct failure **failure);
