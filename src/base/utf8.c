/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/base.h"

bool
utf8_is_valid(const char *data, size_t size)
{
    while (size > 0) {
        uint32_t character;
        const size_t length = utf8_decode(data, size, &character);

        if (length == 0)
            return false;
        data += length;
        size -= length;
    }
    return true;
}

void
utf8_repair(char *text)
{
    for (size_t size = strlen(text); size > 0;) {
        uint32_t character;
        size_t length = utf8_decode(text, size, &character);

        if (length == 0) {
            *text = '?';
            length = 1;
        }
        text += length;
        size -= length;
    }
}
