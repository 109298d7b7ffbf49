/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "store/qemu-conf.h"

#define BLANKS " \t"

/* Return: the text of `key = "text"` or `key = [ "text", ... ]`, in the same line; NULL for another
 * line. */
static char *
value_of_line(char *line, const char *key)
{
    size_t length = strlen(key);
    char quote[2] = "", *value;

    line += strspn(line, BLANKS);
    if (strncmp(line, key, length) != 0)
        return NULL;
    line += length + strspn(line + length, BLANKS);
    if (*line != '=')
        return NULL;
    value = line + 1 + strspn(line + 1, BLANKS);
    if (*value == '[')
        value += 1 + strspn(value + 1, BLANKS);
    if (*value != '"' && *value != '\'')
        return NULL;
    quote[0] = *value++;
    value[strcspn(value, quote)] = '\0';
    return value;
}

int
qemu_conf_get(int root, const char *key, char **value)
{
    cleanup_buffer struct buffer text = {0};
    int error = fs_read_in_root(root, VIRT_SEED_LIBVIRT_CONFDIR "/qemu.conf",
                                LIMIT_QEMU_CONF, &text);
    char *rest = text.data;

    *value = NULL;
    if (error < 0)
        return error == -ENOENT ? 0 : error;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        const char *found = value_of_line(line, key);

        if (found) {
            free(*value);
            *value = xstrdup(found);
        }
    }
    return 0;
}
