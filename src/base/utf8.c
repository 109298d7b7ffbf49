/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/utf8.h"

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
 * above U+10FFFF. */
static bool
is_second(unsigned char first, unsigned char second)
{
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= low && second <= high;
}

/* In text the NUL at the end is in no range, so nothing is read behind it. */
static bool
is_character(const unsigned char *text, size_t length)
{
    if (length >= 2 && !is_second(text[0], text[1]))
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

void
utf8_replace_controls(char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)text[0], next = (unsigned char)text[1];

        if (byte < ' ' || byte == 0x7f) {
            *text = '?';
        } else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
            *text++ = '?';
            *text = '?';
        }
    }
}
