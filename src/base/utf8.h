/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that may be no UTF-8: from files, or cut by a format's precision. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Return: whether the bytes are characters of UTF-8 (RFC 3629), all of them. */
bool utf8_is_valid(const char *data, size_t size);

/* Replaces, in place, each byte that belongs to no character of UTF-8 (RFC 3629) by '?'. */
void utf8_repair(char *text);

/*
 * Return: how many bytes the character has with which the text begins, where it is unfit to
 * be shown: a control character (of ASCII, and U+0080 to U+009F), one that turns the text
 * behind it around, or one that is not seen. 0 for any other.
 */
size_t utf8_unfit_length(const char *text, size_t size);

/* Replaces, in place, each such character by '?', a '?' for each byte. */
void utf8_replace_controls(char *text);
