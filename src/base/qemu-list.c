/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/qemu-list.h"

/* Takes the next "key=value" from the list. Return: without the comma after it, and with
 * ",," replaced by ","; owned by the caller (free); NULL at the end. */
static char *
next_word(const char **list)
{
    const char *from = *list;
    char *word, *end;

    if (!*from)
        return NULL;
    word = xmalloc(strlen(from) + 1);
    end = word;
    while (*from && (*from != ',' || from[1] == ',')) {
        from += *from == ',';
        *end++ = *from++;
    }
    *end = '\0';
    *list = *from ? from + 1 : from;
    return word;
}

char *
qemu_list_value(const char *list, const char *key, const char *implied)
{
    char *value = NULL;
    bool first = true;

    for (char *word = next_word(&list); word; word = next_word(&list)) {
        const char *equals = strchr(word, '=');
        size_t length = equals ? (size_t)(equals - word) : 0;
        bool is_key = first && implied && strcmp(key, implied) == 0;

        if (equals)
            is_key = strlen(key) == length && strncmp(word, key, length) == 0;
        if (is_key) {
            free(value);
            value = xstrdup(equals ? equals + 1 : word);
        }
        free(word);
        first = false;
    }
    return value;
}
