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
        own_directory_open(root, scope()->reportdir, scope()->pass_mode, failure);
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
        return own_directory_fail("make", scope()->reportdir, name, error, failure);
    return 0;
}

bool
report_file_has_content(int root, const char *uuid)
{
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->reportdir);
    cleanup_free char *name = file_name(uuid);
    struct stat status;

    if (directory < 0 || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return S_ISREG(status.st_mode) && status.st_size > 0;
}

int
report_file_remove(int root, const char *uuid, struct failure **failure)
{
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->reportdir);
    cleanup_free char *name = file_name(uuid);
    int error = directory < 0 ? directory : remove_one(directory, name);

    if (directory >= 0 && (error == 0 || error == -ENOENT))
        error = remove_others(directory, uuid, name);
    if (error < 0 && error != -ENOENT)
        return own_directory_fail("remove", scope()->reportdir, name, error, failure);
    return 0;
}

/* --- reading ---------------------------------------------------------------------- */

int
report_file_open(int root, const char *uuid, struct stat *status)
{
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->reportdir);
    cleanup_free char *name = file_name(uuid);
    cleanup_close int fd =
        directory < 0 ? directory : fs_open_strictly_beneath(directory, name, 0);
    off_t surplus;

    if (fd < 0)
        return fd;
    if (fstat(fd, status) < 0)
        return -errno;
    if (!S_ISREG(status->st_mode))
        return -EINVAL;
    surplus = status->st_size - (off_t)LIMIT_REPORT_FILE;
    if (surplus > 0 && lseek(fd, surplus, SEEK_SET) < 0)
        return -errno;
    return steal_fd(fd);
}

int
report_file_fail(const char *uuid, int error, struct failure **failure)
{
    cleanup_free char *name = file_name(uuid);

    return libvirt_group_fail(FAILURE_SYSTEM, "read", scope()->reportdir, name, error,
                              failure);
}

int
report_file_read(int root, const char *uuid, struct buffer *text, time_t *written,
                 struct failure **failure)
{
    struct stat status;
    cleanup_close int fd = report_file_open(root, uuid, &status);
    int error = fd;

    *written = 0;
    if (fd == -ENOENT)
        return 0;
    if (fd >= 0)
        error = fs_read_all(fd, LIMIT_REPORT_FILE, text);
    /* The guest has written more meanwhile. */
    if (error < 0 && error != -EFBIG)
        return report_file_fail(uuid, error, failure);
    *written = status.st_mtime;
    return 0;
}
