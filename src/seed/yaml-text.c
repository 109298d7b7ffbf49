/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "seed/json.h"
#include "seed/yaml-text.h"

/* Return: how many bytes the character at `at` has where it must be escaped, else 0. */
static size_t
special(const unsigned char *at, unsigned int *code)
{
    if (at[0] == 0x7f) {
        *code = 0x7f;
        return 1;
    }
    if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) {
        *code = at[1];
        return 2;
    }
    /* U+FFFE and U+FFFF */
    if (at[0] == 0xef && at[1] == 0xbf && (at[2] == 0xbe || at[2] == 0xbf)) {
        *code = 0xff00U + (at[2] == 0xbe ? 0xfeU : 0xffU);
        return 3;
    }
    if (at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9)) {
        *code = 0x2000U + (at[2] - 0x80U);
        return 3;
    }
    return 0;
}

/* All of them stand within strings. */
void
yaml_text_append(struct buffer *buffer, const json_t *json)
{
    cleanup_free char *text = json_text(json);
    const unsigned char *begin = (const unsigned char *)text;
    const unsigned char *at = begin;

    while (*at) {
        char escape[sizeof("\\uXXXX")];
        unsigned int code = 0;
        size_t length = special(at, &code);

        if (length == 0) {
            at++;
            continue;
        }
        buffer_append(buffer, begin, (size_t)(at - begin));
        snprintf(escape, sizeof(escape), "\\u%04x", code & 0xffff);
        buffer_append_string(buffer, escape);
        at += length;
        begin = at;
    }
    buffer_append(buffer, begin, (size_t)(at - begin));
}
