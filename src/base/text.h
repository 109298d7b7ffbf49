/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text: characters of UTF-8, printing what comes from outside, names of a known form, and
 * lists of texts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* --- UTF-8 ------------------------------------------------------------------------ */
/* Of text that may be no UTF-8: from files, or cut by a format's precision. */

/* Return: whether the bytes are characters of UTF-8 (RFC 3629), all of them. */
bool utf8_is_valid(const char *data, size_t size);

/* Replaces, in place, each byte that belongs to no character of UTF-8 (RFC 3629) by
 * '?'. */
void utf8_repair(char *text);

/*
 * Return: how many bytes the character has with which the text begins, where it is unfit
 * to be shown: a control character (of ASCII, and U+0080 to U+009F), one that turns the
 * text after it around, or one that is not seen. 0 for any other.
 */
size_t utf8_unfit_length(const char *text, size_t size);

/* Replaces, in place, each such character by '?', a '?' for each byte. */
void utf8_replace_controls(char *text);

/* --- printing --------------------------------------------------------------------- */

/* Prints text from outside with '?' for each character that is unfit to be shown, so that
 * it can neither steer a terminal nor look like what it is not. Line ends and tabs
 * stay. */
void print_outside_text(FILE *stream, const char *text, size_t size);

/* The same for a name, which has no business with line ends: they are replaced as
 * well. */
void print_outside_string(FILE *stream, const char *text);

/* Prints a line the same way, and its end. */
void print_outside_line(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- names that are digits of hex, in lower case ----------------------------------- */

/* Return: whether the text is as the pattern, where 'x' is such a digit. */
bool form_is(const char *text, const char *pattern);

/* Characters of a UUID that is written. */
#define UUID_LENGTH 36

/* Return: whether it is a UUID as libvirt writes it, by which domains' files are
 * named. */
bool form_is_uuid(const char *text);

/* Return: whether it begins with one. */
bool form_begins_with_uuid(const char *text);

/* Return: whether it is so many digits, and nothing else. */
bool form_is_hex(const char *text, size_t length);

/* --- lists: a pointer and a count, NULL and 0 where there is none ------------------ */

/* Adds the text, which the list owns then. */
void texts_add(char ***texts, size_t *count, char *text);

bool texts_have(char *const *texts, size_t count, const char *text);

/* Frees the texts, and the list itself. */
void texts_free(char **texts, size_t count);
