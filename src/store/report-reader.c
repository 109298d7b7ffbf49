/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: virtlogd renames what it has, the oldest first, and then makes a new file
 * (virRotatingFileWriterRollover). So the file that comes after the one that is read stands
 * in front of it in the row UUID.report, UUID.report.0, UUID.report.1; whatever is renamed
 * while the row is gone through, a file can only be met once more, and for a moment one name
 * can be missing. A file that is not in the row was removed, and the oldest one follows.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/report-name.h"
#include "store/libvirt-host.h"
#include "store/report-reader.h"

#define ROW (LIMIT_REPORT_COPIES + 1)
/* One name may be missing while virtlogd renames. */
#define ROW_GAP 2
/* What is read at a time. */
#define CHUNK (64 * KIB)

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

/* --- the row of files ------------------------------------------------------------- */

/* Return: a descriptor, or -errno; -EINVAL for what is no regular file. */
static int
open_in_row(const struct report_reader *reader, int directory, size_t index,
            struct stat *status)
{
    cleanup_free char *copy =
        index > 0 ? xasprintf("%s.%zu", reader->name, index - 1) : NULL;
    cleanup_close int fd =
        fs_open_beneath(directory, copy ? copy : reader->name, O_NOFOLLOW);

    if (fd < 0)
        return fd;
    if (fstat(fd, status) < 0)
        return -errno;
    return S_ISREG(status->st_mode) ? steal_fd(fd) : -EINVAL;
}

static bool
is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

struct row {
    int follower;      /* the file in front of the one that was looked at last, or -1 */
    off_t size;        /* of those that were looked at, together */
    struct stat known; /* of the file that is read */
    bool found;
};

static void
close_follower(struct row *row)
{
    close_pointer(&row->follower);
}

/* Return: whether the row ends here: with the file that is read, or with what there is to
 * read of all. */
static bool
look_at(const struct report_reader *reader, struct row *row, int file,
        const struct stat *status)
{
    if (reader->file >= 0 && is_same_file(status, &row->known)) {
        close(file);
        row->found = true;
        return true;
    }
    close_follower(row);
    row->follower = file;
    row->size += status->st_size;
    return row->size > (off_t)LIMIT_REPORT_FILES;
}

/* Return: 0 or -errno. */
static int
go_through(const struct report_reader *reader, int directory, struct row *row)
{
    for (size_t i = 0, missing = 0; i < ROW && missing < ROW_GAP; i++) {
        struct stat status;
        int file = open_in_row(reader, directory, i, &status);

        if (file < 0 && file != -ENOENT)
            return file;
        missing = file < 0 ? missing + 1 : 0;
        if (file >= 0 && look_at(reader, row, file, &status))
            return 0;
    }
    return 0;
}

/* Return: the file that comes after the one that is read, -ENOENT where there is none yet,
 * or another -errno. */
static int
open_next(const struct report_reader *reader)
{
    cleanup_close int directory =
        fs_open_directory_in_root(reader->root, VIRT_SEED_REPORTDIR);
    __attribute__((cleanup(close_follower))) struct row row = {.follower = -1};
    off_t surplus;
    int error;

    if (directory < 0)
        return directory;
    if (reader->file >= 0 && fstat(reader->file, &row.known) < 0)
        return -errno;
    error = go_through(reader, directory, &row);
    if (error < 0 || row.follower < 0)
        return error < 0 ? error : -ENOENT;
    surplus = row.size - (off_t)LIMIT_REPORT_FILES;
    if (!row.found && surplus > 0 && lseek(row.follower, surplus, SEEK_SET) < 0)
        return -errno;
    return steal_fd(row.follower);
}

/* --- reading ---------------------------------------------------------------------- */

static ssize_t
fail(const struct report_reader *reader, int error, struct failure **failure)
{
    failure_set_errno(failure, FAILURE_SYSTEM, error, "could not read %s/%s",
                      VIRT_SEED_REPORTDIR, reader->name);
    if (error == -EACCES)
        return failure_hint(failure, LIBVIRT_GROUP_HINT, VIRT_SEED_REPORTDIR,
                            reader->name);
    return failure_hint(failure, "see what is there: ls -l %s", VIRT_SEED_REPORTDIR);
}

/* Return: as read(2), with -errno; 0 without a file. */
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
    /* As often as there are files that say nothing. */
    for (size_t i = 0; i < ROW; i++) {
        ssize_t count = read_file(reader, data, size);
        cleanup_close int next = count == 0 ? open_next(reader) : -1;

        /* Between the two, virtlogd may have written on, and then renamed the file. */
        if (next >= 0)
            count = read_file(reader, data, size);
        if (count > 0 || next == -ENOENT)
            return count;
        if (count < 0 || next < 0)
            return fail(reader, count < 0 ? (int)count : next, failure);
        close_pointer(&reader->file);
        reader->file = steal_fd(next);
    }
    return 0;
}

static void
feed(struct guest_report *report, const struct report_listener *listener,
     const char *data, size_t size)
{
    while (size > 0) {
        bool news;
        size_t taken = guest_report_feed(report, data, size, &news);

        if (news && listener)
            listener->said(report, listener->data);
        data += taken;
        size -= taken;
    }
}

int
report_read(int root, const char *uuid, struct guest_report *report, time_t *written,
            struct failure **failure)
{
    return report_read_lines(root, uuid, report, NULL, written, failure);
}

int
report_read_lines(int root, const char *uuid, struct guest_report *report,
                  const struct report_listener *listener, time_t *written,
                  struct failure **failure)
{
    cleanup_report_reader struct report_reader reader = {.file = -1};
    cleanup_free char *chunk = xmalloc(CHUNK);
    size_t total = 0;
    struct stat status;

    report_reader_init(&reader, root, uuid);
    /* What the guest goes on to write meanwhile is not waited for. */
    while (total < LIMIT_REPORT_FILES) {
        ssize_t count = report_reader_read(&reader, chunk, CHUNK, failure);

        if (count < 0)
            return -1;
        if (count == 0)
            break;
        feed(report, listener, chunk, (size_t)count);
        total += (size_t)count;
    }
    if (written)
        *written =
            reader.file >= 0 && fstat(reader.file, &status) == 0 ? status.st_mtime : 0;
    return 0;
}
