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
#include "host/own-directory.h"
#include "host/report-file.h"

/* What is read at a time. */
#define CHUNK (64 * KIB)
/* Readers open a report by its name, and cannot list the others. */
#define REPORTDIR_MODE 0711
#define REPORT_MODE 0640

static char *
file_name(const char *uuid)
{
    return xasprintf("%s" REPORT_SUFFIX, uuid);
}

/* Return: 0 or -errno. A read-only file system is -EROFS also for a missing file, which
 * is -ENOENT here. */
static int
remove_one(int directory, const char *name)
{
    if (unlinkat(directory, name, 0) == 0)
        return 0;
    if (errno != EROFS)
        return -errno;
    return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : -EROFS;
}

/* virtlogd numbers its copies without gaps. */
static int
remove_others(int directory, const char *uuid, const char *name)
{
    cleanup_free char *link = second_name(uuid);
    int error = remove_one(directory, link);

    if (error == -ENOENT)
        error = 0;
    for (size_t i = 0; error == 0 && i < LIMIT_REPORT_COPIES; i++) {
        cleanup_free char *copy = xasprintf("%s.%zu", name, i);

        error = remove_one(directory, copy);
    }
    return error == -ENOENT ? 0 : error;
}

static int
set_owner(int fd, uid_t writer, gid_t readers)
{
    return fchown(fd, writer, readers) < 0 || fchmod(fd, REPORT_MODE) < 0 ? -errno : 0;
}

int
report_file_make(int root, const char *uuid, enum report_writer writer, bool keep,
                 struct failure **failure)
{
    const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    cleanup_close int directory =
        own_directory_open(root, VIRT_SEED_REPORTDIR, REPORTDIR_MODE, failure);
    cleanup_free char *name = file_name(uuid);
    cleanup_free char *link = second_name(uuid);
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    cleanup_close int present = -1;
    gid_t readers = libvirt_group(root);
    const uid_t user = writer == REPORT_BY_SHIM ? qemu_user_find(root).uid : geteuid();
    struct stat status;
    int error;

    if (directory < 0)
        return -1;
    if (keep)
        present = openat(directory, name, flags);
    if (keep && (present >= 0 || errno != ENOENT)) {
        if (present < 0 || fstat(present, &status) < 0)
            error = -errno;
        else
            error = S_ISREG(status.st_mode) ? set_owner(present, user, readers) : -EINVAL;
    } else {
        error = tmpfile_open(&tmpfile, directory, name);
        if (error == 0)
            error = set_owner(tmpfile.fd, user, readers);
        if (error == 0)
            error = tmpfile_publish(&tmpfile, name);
        if (error == 0)
            error = remove_others(directory, uuid, name);
    }
    if (error == 0 && writer == REPORT_BY_SHIM)
        error = fs_link_again(directory, name, link);
    if (error < 0)
        return own_directory_fail("make", VIRT_SEED_REPORTDIR, name, error, failure);
    return 0;
}

bool
report_file_has_content(int root, const char *uuid)
{
    cleanup_close int directory = fs_open_directory_in_root(root, VIRT_SEED_REPORTDIR);
    cleanup_free char *name = file_name(uuid);
    struct stat status;

    if (directory < 0 || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return S_ISREG(status.st_mode) && status.st_size > 0;
}

int
report_file_remove(int root, const char *uuid, struct failure **failure)
{
    cleanup_close int directory = fs_open_directory_in_root(root, VIRT_SEED_REPORTDIR);
    cleanup_free char *name = file_name(uuid);
    int error = directory < 0 ? directory : remove_one(directory, name);

    if (directory >= 0 && (error == 0 || error == -ENOENT))
        error = remove_others(directory, uuid, name);
    if (error < 0 && error != -ENOENT)
        return own_directory_fail("remove", VIRT_SEED_REPORTDIR, name, error, failure);
    return 0;
}

/* --- reading ---------------------------------------------------------------------- */

void
report_reader_init(struct report_reader *reader, int root, const char *uuid)
{
    *reader = (struct report_reader){
        .root = root,
        .name = file_name(uuid),
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
        fs_open_directory_in_root(reader->root, VIRT_SEED_REPORTDIR);
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
    return libvirt_group_fail(FAILURE_SYSTEM, "read", VIRT_SEED_REPORTDIR, reader->name,
                              (int)count, failure);
}

int
report_file_read(int root, const char *uuid, struct buffer *text, time_t *written,
                 struct failure **failure)
{
    cleanup_report_reader struct report_reader reader = {.file = -1};
    struct stat status;
    ssize_t count = 1;

    report_reader_init(&reader, root, uuid);
    /* Does not wait for more from the guest. */
    while (count > 0 && text->size < LIMIT_REPORT_FILE) {
        char *room = buffer_reserve(text, CHUNK);

        count = report_reader_read(&reader, room, CHUNK, failure);
        if (count < 0)
            return -1;
        text->size += (size_t)count;
        text->data[text->size] = '\0';
    }
    *written = reader.file >= 0 && fstat(reader.file, &status) == 0 ? status.st_mtime : 0;
    return 0;
}
