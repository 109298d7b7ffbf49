/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* --- UTF-8 ------------------------------------------------------------------------ */

/* Return: how many bytes a character has that begins with this one; 0 for none. */
static size_t
sequence_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The second byte's range depends on the first: no overlong forms, no surrogates, nothing
 * above U+10FFFF. In text the NUL at the end is in no range, so nothing is read after it. */
static bool
is_character(const unsigned char *text, size_t length)
{
    unsigned char low = text[0] == 0xe0 ? 0xa0 : text[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = text[0] == 0xed ? 0x9f : text[0] == 0xf4 ? 0x8f : 0xbf;

    if (length >= 2 && (text[1] < low || text[1] > high))
        return false;
    for (size_t i = 2; i < length; i++) {
        if (text[i] < 0x80 || text[i] > 0xbf)
            return false;
    }
    return length > 0;
}

bool
utf8_is_valid(const char *data, size_t size)
{
    const char *end = data + size;

    while (data < end) {
        size_t length = sequence_length((unsigned char)*data);

        if (length > (size_t)(end - data) ||
            !is_character((const unsigned char *)data, length))
            return false;
        data += length;
    }
    return true;
}

void
utf8_repair(char *text)
{
    while (*text) {
        size_t length = sequence_length((unsigned char)*text);

        if (!is_character((const unsigned char *)text, length)) {
            *text = '?';
            length = 1;
        }
        text += length;
    }
}

/* Characters that differ in their last byte only. */
static const struct {
    char beginning[4];
    unsigned char first, last;
} unfit[] = {
    {"\xc2", 0x80, 0x9f},         /* U+0080-U+009F: controls */
    {"\xe2\x80", 0x8b, 0x8f},     /* U+200B-U+200F: of no width, directions */
    {"\xe2\x80", 0xa8, 0xae},     /* U+2028-U+202E: line ends, directions */
    {"\xe2\x81", 0xa0, 0xa9},     /* U+2060-U+2069: invisible operators, directions */
    {"\xef\xbb", 0xbf, 0xbf},     /* U+FEFF: the byte order mark */
    {"\xf3\xa0\x80", 0x80, 0xbf}, /* U+E0000-U+E007F: tags */
    {"\xf3\xa0\x81", 0x80, 0xbf},
};

size_t
utf8_unfit_length(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;

    if (size > 0 && (bytes[0] < ' ' || bytes[0] == 0x7f))
        return 1;
    for (size_t i = 0; i < ARRAY_SIZE(unfit); i++) {
        size_t length = strlen(unfit[i].beginning);

        if (size > length && memcmp(text, unfit[i].beginning, length) == 0 &&
            bytes[length] >= unfit[i].first && bytes[length] <= unfit[i].last)
            return length + 1;
    }
    return 0;
}

void
utf8_replace_controls(char *text)
{
    for (const char *end = text + strlen(text); text < end;) {
        size_t length = utf8_unfit_length(text, (size_t)(end - text));

        memset(text, '?', length);
        text += length > 0 ? length : 1;
    }
}

/* --- forms ------------------------------------------------------------------------ */

#define DIGITS "0123456789abcdef"

#define UUID_PATTERN "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
static_assert(sizeof(UUID_PATTERN) - 1 == UUID_LENGTH, "the pattern is a UUID's");

/* Return: what follows the part of the text that has the pattern's form, or NULL. */
static const char *
skip(const char *text, const char *pattern)
{
    for (; *pattern; pattern++, text++) {
        if (*pattern == 'x' ? !*text || !strchr(DIGITS, *text) : *text != *pattern)
            return NULL;
    }
    return text;
}

bool
form_is(const char *text, const char *pattern)
{
    const char *rest = skip(text, pattern);

    return rest && !*rest;
}

bool
form_is_uuid(const char *text)
{
    return form_is(text, UUID_PATTERN);
}

bool
form_begins_with_uuid(const char *text)
{
    return skip(text, UUID_PATTERN);
}

bool
form_is_hex(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, DIGITS) == length;
}

/* --- lists ------------------------------------------------------------------------ */

void
texts_add(char ***texts, size_t *count, char *text)
{
    *array_add(*texts, *count) = text;
}

bool
texts_have(char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(texts[i], text) == 0)
            return true;
    }
    return false;
}

void
texts_free(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}
