/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/report-file.h"
#include "store/guest-report.h"

void
report_reader_init(struct report_reader *reader, int root, const char *uuid)
{
    *reader = (struct report_reader){
        .root = root,
        .uuid = xstrdup(uuid),
        .file = -1,
    };
}

void
report_reader_clear(struct report_reader *reader)
{
    close_pointer(&reader->file);
    free(steal(reader->uuid));
    reader->file = -1;
}

/* Return: the file that has the name now; -ENOENT if there is none, or it is the current
 * one; or another -errno. */
static int
open_next(const struct report_reader *reader)
{
    struct stat known, status;
    cleanup_close int fd = report_file_open(reader->root, reader->uuid, &status);

    if (fd < 0 || reader->file < 0)
        return steal_fd(fd);
    if (fstat(reader->file, &known) < 0)
        return -errno;
    if (known.st_dev == status.st_dev && known.st_ino == status.st_ino)
        return -ENOENT;
    return steal_fd(fd);
}

/* Return: as read(2), or -errno; 0 without a file. */
static ssize_t
read_file(const struct report_reader *reader, char *data, size_t size)
{
    ssize_t count;

    if (reader->file < 0)
        return 0;
    do
        count = read(reader->file, data, size);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

ssize_t
report_reader_read(struct report_reader *reader, char *data, size_t size,
                   struct failure **failure)
{
    ssize_t count = read_file(reader, data, size);

    if (count == 0) {
        cleanup_close int next = open_next(reader);

        if (next == -ENOENT)
            return 0;
        /* In between, virtlogd may have written more and then renamed the file. */
        count = next < 0 ? next : read_file(reader, data, size);
        if (count == 0) {
            close_pointer(&reader->file);
            reader->file = steal_fd(next);
            count = read_file(reader, data, size);
        }
    }
    if (count >= 0)
        return count;
    return report_file_fail(reader->uuid, (int)count, failure);
}
