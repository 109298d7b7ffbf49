/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/base.h"

/* --- UTF-8 ------------------------------------------------------------------------ */

size_t
utf8_decode(const char *text, size_t size, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = 4;

    *character = bytes[0];
    if (bytes[0] < 0x80)
        return 1;
    if (bytes[0] < 0xe0)
        length = 2;
    else if (bytes[0] < 0xf0)
        length = 3;
    if (bytes[0] < 0xc0 || bytes[0] > 0xf4 || length > size)
        return 0;
    *character &= 0x7fU >> length;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (bytes[i] & 0x3f);
    }
    /* No overlong forms, no surrogates. */
    if (*character < least[length] || *character > 0x10ffff)
        return 0;
    return *character >= 0xd800 && *character <= 0xdfff ? 0 : length;
}

static bool
is_unfit(uint32_t character)
{
    /* In their order: most text is below the second. */
    static const struct {
        uint32_t first, last;
    } unfit[] = {
        {0x00, 0x1f},       /* controls */
        {0x7f, 0x9f},       /* controls */
        {0x61c, 0x61c},     /* direction */
        {0x200b, 0x200f},   /* zero width, directions */
        {0x2028, 0x202e},   /* line ends, directions */
        {0x2060, 0x206f},   /* invisible operators, directions */
        {0xfeff, 0xfeff},   /* the byte order mark */
        {0xe0000, 0xe007f}, /* tags */
    };

    for (size_t i = 0; i < ARRAY_SIZE(unfit) && unfit[i].first <= character; i++) {
        if (character <= unfit[i].last)
            return true;
    }
    return false;
}

size_t
utf8_next(const char *text, size_t size, bool *is_fit)
{
    uint32_t character;
    const size_t length = utf8_decode(text, size, &character);

    *is_fit = length > 0 && !is_unfit(character);
    return length == 0 ? 1 : length;
}

void
utf8_replace_controls(char *text)
{
    for (size_t size = strlen(text); size > 0;) {
        bool is_fit;
        const size_t length = utf8_next(text, size, &is_fit);

        if (!is_fit)
            memset(text, '?', length);
        text += length;
        size -= length;
    }
}

/* --- lower-case hexadecimal names -------------------------------------------------- */

#define DIGITS "0123456789abcdef"

static_assert(sizeof(UUID_PATTERN) - 1 == UUID_LENGTH, "the pattern is a UUID's");

bool
text_matches(const char *text, const char *pattern)
{
    for (; *pattern; pattern++, text++) {
        bool fits = *text == *pattern;

        if (*pattern == 'x')
            fits = *text && strchr(DIGITS, *text);
        if (!fits)
            return false;
    }
    return !*text;
}

bool
text_is_uuid(const char *text)
{
    return text_matches(text, UUID_PATTERN);
}

bool
text_is_hex(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, DIGITS) == length;
}

/* --- trimming --------------------------------------------------------------------- */

char *
text_trim(char *text)
{
    size_t length;

    text += strspn(text, " \t\r");
    length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* --- lists ------------------------------------------------------------------------ */

void
texts_add(char ***texts, size_t *count, char *text)
{
    *array_add(*texts, *count) = text;
}

void
texts_free(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}
