/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that may be no UTF-8: from files, or cut by a format's precision. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Return: whether the bytes are characters of UTF-8 (RFC 3629), all of them. */
bool utf8_is_valid(const char *data, size_t size);

/* Replaces, in place, each byte that belongs to no character of UTF-8 (RFC 3629) by '?'. */
void utf8_repair(char *text);

/* Replaces, in place, each control character (of ASCII, and U+0080 to U+009F) by '?', a
 * byte each. */
void utf8_replace_controls(char *text);
