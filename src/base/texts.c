/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/texts.h"

void
texts_add(char ***texts, size_t *count, char *text)
{
    *texts = xreallocarray(*texts, *count + 1, sizeof(**texts));
    (*texts)[(*count)++] = text;
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

void
texts_free(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}
