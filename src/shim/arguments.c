/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/qemu-list.h"
#include "shim/shim.h"

/* --- options ---------------------------------------------------------------------- */

struct option_at
arguments_next(char **arguments, size_t *index)
{
    struct option_at option = {0};

    while (arguments[*index] && arguments[*index][0] != '-')
        (*index)++;
    if (!arguments[*index])
        return option;
    option.name = arguments[*index] + (arguments[*index][1] == '-' ? 2 : 1);
    (*index)++;
    option.value = arguments[*index] ? arguments[*index] : "";
    if (strcmp(option.name, "append") == 0 && arguments[*index])
        (*index)++;
    return option;
}

size_t
arguments_find(char **arguments, const char *name, const char **value)
{
    struct option_at option;
    size_t count = 0;
    size_t index = 1;

    *value = NULL;
    while ((option = arguments_next(arguments, &index)).name) {
        if (strcmp(option.name, name) != 0)
            continue;
        *value = option.value;
        count++;
    }
    return count;
}

/* --- lists ------------------------------------------------------------------------ */

#define BLANKS " \t\r\n"

/* Enough for the names and addresses of devices, which contain no escapes. */
static char *
json_value(const char *object, const char *key)
{
    cleanup_free char *quoted = xasprintf("\"%s\"", key);
    char *value = NULL;

    while ((object = strstr(object, quoted))) {
        object += strlen(quoted);
        object += strspn(object, BLANKS);
        if (*object != ':')
            continue;
        object++;
        object += strspn(object, BLANKS);
        if (*object != '"')
            continue;
        free(value);
        value = xstrndup(object + 1, strcspn(object + 1, "\""));
    }
    return value;
}

char *
list_value(const char *list, const char *key, const char *implied)
{
    return *list == '{' ? json_value(list, key) : qemu_list_value(list, key, implied);
}

char *
list_escape(const char *text)
{
    char *escaped = xmalloc(2 * strlen(text) + 1);
    char *end = escaped;

    for (; *text; text++) {
        if (*text == ',')
            *end++ = ',';
        *end++ = *text;
    }
    *end = '\0';
    return escaped;
}
