/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "host/libvirt-host.h"
#include "store/report-reader.h"

void
report_reader_init(struct report_reader *reader, int root, const char *uuid)
{
    *reader = (struct report_reader){
        .root = root,
        .name = xasprintf("%s" REPORT_SUFFIX, uuid),
        .file = -1,
    };
}

void
report_reader_clear(struct report_reader *reader)
{
    close_pointer(&reader->file);
    free(steal(reader->name));
    reader->file = -1;
}

/* Return: the file that has the name now; -ENOENT if there is none, or it is the current
 * one; -EINVAL if it is not a regular file; or another -errno. */
static int
open_next(const struct report_reader *reader)
{
    cleanup_close int directory =
        fs_open_directory_in_root(reader->root, scope()->reportdir);
    cleanup_close int fd =
        directory < 0 ? directory : fs_open_beneath(directory, reader->name, O_NOFOLLOW);
    struct stat known, status;
    off_t surplus;

    if (fd < 0)
        return fd;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    surplus = status.st_size - (off_t)LIMIT_REPORT_FILE;
    if (reader->file < 0) {
        if (surplus > 0 && lseek(fd, surplus, SEEK_SET) < 0)
            return -errno;
        return steal_fd(fd);
    }
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
    return libvirt_group_fail(FAILURE_SYSTEM, "read", scope()->reportdir, reader->name,
                              (int)count, failure);
}
