/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: wcwidth(3) would depend on the locale, and main sets none. A combining
 * character counts as one column, so what fits by this count fits.
 */
#include "config.h"

#include <stdbool.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "cli/columns.h"

char *
columns_text(const char *text)
{
    char *copy = xstrdup(text);

    utf8_repair(copy);
    utf8_replace_controls(copy);
    return copy;
}

/* Return: the character at the beginning of valid UTF-8; `length` is that of its bytes. */
static unsigned int
decode(const char *text, size_t *length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned int first = bytes[0];
    unsigned int character;

    *length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    character = *length == 1 ? first : first & (0x7fU >> *length);
    for (size_t i = 1; i < *length; i++)
        character = character << 6 | (bytes[i] & 0x3f);
    return character;
}

/* East_Asian_Width W and F (Unicode, annex 11), in whole blocks. */
static bool
is_wide(unsigned int character)
{
    static const struct {
        unsigned int first, last;
    } blocks[] = {
        {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2e80, 0xa4cf},   {0xa960, 0xa97f},
        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
        {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff},
        {0x1f000, 0x1faff}, {0x20000, 0x3fffd},
    };

    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        if (character >= blocks[i].first && character <= blocks[i].last)
            return true;
    }
    return false;
}

size_t
columns_count(const char *text)
{
    size_t columns = 0, length;

    for (; *text; text += length)
        columns += is_wide(decode(text, &length)) ? 2 : 1;
    return columns;
}

void
columns_cut(char *text, size_t columns)
{
    size_t length;

    for (; *text; text += length) {
        size_t width = is_wide(decode(text, &length)) ? 2 : 1;

        if (width > columns) {
            *text = '\0';
            return;
        }
        columns -= width;
    }
}
