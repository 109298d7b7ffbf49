/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64 (RFC 4648, section 4) in the text of an element. */
#pragma once

#include "base/buffer.h"

/* Appends what the text stands for; white space in it is passed over.
 * Return: 0, or -1 where it is not base64. */
int base64_append(struct buffer *buffer, const char *text);
