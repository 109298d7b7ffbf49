/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/base.h"

bool
utf8_is_valid(const char *data, size_t size)
{
    while (size > 0) {
        size_t length = (unsigned char)*data < 0x80 ? 1 : utf8_length(data, size);

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
        size_t length = utf8_length(text, size);

        if (length == 0) {
            *text = '?';
            length = 1;
        }
        text += length;
        size -= length;
    }
}
