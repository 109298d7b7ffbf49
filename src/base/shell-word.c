/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of the commands that hints name. */
#include "config.h"

#include "base/base.h"

char *
xshellquote(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_./:@%+=,";
    char *quoted, *end;

    if (*text && strspn(text, safe) == strlen(text))
        return xstrdup(text);
    quoted = xmalloc(4 * strlen(text) + 3);
    end = quoted;
    *end++ = '\'';
    for (; *text; text++) {
        size_t size = *text == '\'' ? 4 : 1;

        memcpy(end, size > 1 ? "'\\''" : text, size);
        end += size;
    }
    memcpy(end, "'", 2);
    return quoted;
}
