/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text: UTF-8, hexadecimal names, names of users, and lists of strings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

/* --- UTF-8 ------------------------------------------------------------------------ */
/* For text that may not be UTF-8: from files, or cut by a format's precision. */

/* Return: the length of the text's first character; 0 if it is not valid (RFC 3629), and then
 * `character` means nothing. */
size_t utf8_decode(const char *text, size_t size, uint32_t *character);

/* Return: whether all of the bytes are valid UTF-8. */
bool utf8_is_valid(const char *data, size_t size);

/* Replaces each byte that is not part of a UTF-8 character with '?', in place. */
void utf8_repair(char *text);

/*
 * Replaces each byte of a character that is unfit to be shown, and each byte that is not
 * UTF-8 (a terminal may take 0x9b for a control), with '?', in place. Unfit are control
 * characters (of ASCII, and U+0080 to U+009F), invisible characters, and those that
 * reverse the text after them.
 */
void utf8_replace_controls(char *text);

/* Return: the length of the text's first character, or 1 for a byte that is not UTF-8;
 * `is_fit`: whether it may be shown. */
size_t utf8_next(const char *text, size_t size, bool *is_fit);

/* --- lower-case hexadecimal names -------------------------------------------------- */

/* Return: whether the text matches the pattern, in which 'x' is such a digit. */
bool text_matches(const char *text, const char *pattern);

/* A UUID as text, and its length. */
#define UUID_PATTERN "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
#define UUID_LENGTH 36

/* Return: whether it is a UUID as libvirt writes it, and as domains' files are named. */
bool text_is_uuid(const char *text);

/* Return: whether it is exactly `length` such digits. */
bool text_is_hex(const char *text, size_t length);

/* Removes blanks (' ', '\t', '\r') from both ends, in place. Return: the text's new
 * beginning. */
char *text_trim(char *text);

/* --- lists: a pointer and a count, NULL and 0 if empty ----------------------------- */

/* Adds the text; the list takes it over. */
void texts_add(char ***texts, size_t *count, char *text);

bool texts_have(char *const *texts, size_t count, const char *text);

/* Sorts them by their bytes. */
void texts_sort(char **texts, size_t count);

/* Frees the texts, and the list itself. */
void texts_free(char **texts, size_t count);
