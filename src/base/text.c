/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/base.h"

/* --- UTF-8 ------------------------------------------------------------------------ */

size_t
utf8_length(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const unsigned char first = bytes[0];
    unsigned char low = 0x80, high = 0xbf; /* the range of the second byte */
    size_t length = 4;

    if (first < 0x80)
        return 1;
    if (first < 0xe0)
        length = 2;
    else if (first < 0xf0)
        length = 3;
    /* No overlong forms, no surrogates, nothing above U+10FFFF. */
    if (first < 0xc2 || first > 0xf4 || length > size)
        return 0;
    if (first == 0xe0)
        low = 0xa0;
    else if (first == 0xed)
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4)
        high = 0x8f;
    if (bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf)
            return 0;
    }
    return length;
}

/* Ranges of characters that differ in their last byte only. */
static const struct {
    char beginning[4];
    unsigned char first, last;
} unfit[] = {
    {"\xc2", 0x80, 0x9f},         /* U+0080-U+009F: controls */
    {"\xd8", 0x9c, 0x9c},         /* U+061C: direction */
    {"\xe2\x80", 0x8b, 0x8f},     /* U+200B-U+200F: zero width, directions */
    {"\xe2\x80", 0xa8, 0xae},     /* U+2028-U+202E: line ends, directions */
    {"\xe2\x81", 0xa0, 0xaf},     /* U+2060-U+206F: invisible operators, directions */
    {"\xef\xbb", 0xbf, 0xbf},     /* U+FEFF: the byte order mark */
    {"\xf3\xa0\x80", 0x80, 0xbf}, /* U+E0000-U+E007F: tags */
    {"\xf3\xa0\x81", 0x80, 0xbf},
};

/* Return: the length of the text's first character if it is unfit to be shown, else 0. */
static size_t
unfit_length(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;

    if (size > 0 && bytes[0] < 0x80)
        return bytes[0] < ' ' || bytes[0] == 0x7f;
    for (size_t i = 0; i < ARRAY_SIZE(unfit); i++) {
        size_t length = strlen(unfit[i].beginning);

        if (size <= length || memcmp(text, unfit[i].beginning, length) != 0)
            continue;
        if (bytes[length] >= unfit[i].first && bytes[length] <= unfit[i].last)
            return length + 1;
    }
    return 0;
}

size_t
utf8_next(const char *text, size_t size, bool *is_fit)
{
    const size_t length = utf8_length(text, size);

    *is_fit = length > 0 && unfit_length(text, size) == 0;
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

/* --- user names ------------------------------------------------------------------- */

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DECIMAL_DIGITS "0123456789"

bool
text_is_user_name(const char *text)
{
    size_t length = strlen(text);

    /* Samba's machine accounts end with a dollar sign. */
    if (length > LIMIT_USER_NAME || *text == '-' || *text == '$')
        return false;
    if (strspn(text, LETTERS DECIMAL_DIGITS "_.-") +
            (length > 0 && text[length - 1] == '$') !=
        length)
        return false;
    return strspn(text, DECIMAL_DIGITS) != length && strspn(text, ".") != length &&
           strcmp(text, "default") != 0;
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

static int
compare(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

void
texts_sort(char **texts, size_t count)
{
    if (count > 0)
        qsort(texts, count, sizeof(*texts), compare);
}

void
texts_free(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}
