/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The form of names that are digits of hex, in lower case. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Return: whether the text is as the pattern, where 'x' is such a digit. */
bool form_is(const char *text, const char *pattern);

/* Characters of a UUID that is written. */
#define UUID_LENGTH 36

/* Return: whether it is a UUID as libvirt writes it, by which domains' files are named. */
bool form_is_uuid(const char *text);

/* Return: whether it begins with one. */
bool form_begins_with_uuid(const char *text);

/* Return: whether it is so many digits, and nothing else. */
bool form_is_hex(const char *text, size_t length);
