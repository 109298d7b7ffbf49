/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Longer lists of strings, which only commands have. */
#include "config.h"

#include "base/base.h"

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
