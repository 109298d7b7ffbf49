/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digests of documents, by which two of them are compared that are not there at the same
 * time. */
#pragma once

#include <stddef.h>

#include "base/buffer.h"

/* The letters of a digest (SHA-256, in hexadecimal). */
#define DIGEST_LENGTH 64

/* Return: the digest in lower case, as sha256sum(1) writes it, owned by the caller (free). */
char *digest_make(const struct buffer *content);
