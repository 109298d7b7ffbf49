/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/journal.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"

int
journal_send(int root, const struct journal_field *fields, size_t count)
{
    cleanup_close int directory = fs_open_directory_in_root(root, "/run/systemd/journal");
    cleanup_close int fd = -1;
    cleanup_buffer struct buffer entry = {0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (directory < 0)
        return directory;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    /* An address has room for short paths only, and no descriptor. */
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket",
             directory);
    for (size_t i = 0; i < count; i++) {
        cleanup_free char *value = NULL;
        uint64_t length;

        if (!fields[i].value)
            continue;
        value = xstrndup(fields[i].value, LIMIT_MESSAGE);
        utf8_repair(value);
        utf8_replace_controls(value);
        /* The form for any value, in which a line's end in it means nothing. */
        length = htole64(strlen(value));
        buffer_printf(&entry, "%s\n", fields[i].name);
        buffer_append(&entry, &length, sizeof(length));
        buffer_printf(&entry, "%s\n", value);
    }
    if (sendto(fd, entry.data, entry.size, MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    return 0;
}
