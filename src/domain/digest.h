/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256. */
#pragma once

#include "base/base.h"

/* Return: the digest in lower case, as sha256sum(1) prints it, of DIGEST_LENGTH digits
 * (host/documents.h), owned by the caller (free). */
char *digest_make(const struct buffer *content);

/* The same of a whole file. Return: NULL if it cannot be read. */
char *digest_make_of_file(int fd);
