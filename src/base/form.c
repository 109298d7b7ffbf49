/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/form.h"

#define DIGITS "0123456789abcdef"

#define UUID_PATTERN "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
static_assert(sizeof(UUID_PATTERN) - 1 == UUID_LENGTH, "the pattern is a UUID's");

/* Return: whether the character is one that the pattern's allows; a text's end is none. */
static bool
fits(char character, char pattern)
{
    if (pattern == 'x')
        return character && strchr(DIGITS, character);
    return character == pattern;
}

/* Return: what is behind the part of the text that is as the pattern; NULL where it has none. */
static const char *
skip(const char *text, const char *pattern)
{
    for (; *pattern; pattern++, text++) {
        if (!fits(*text, *pattern))
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
