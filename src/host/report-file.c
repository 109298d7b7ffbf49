/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "host/libvirt-host.h"
#include "host/own-directory.h"
#include "host/report-file.h"

#define REPORT_MODE 0640
#define LOG_MODE 0600

static char *
file_name(const char *uuid, const char *suffix)
{
    return xasprintf("%s%s", uuid, suffix);
}

static int
fail(const char *what, const char *name, int error, struct failure **failure)
{
    return own_directory_fail(FAILURE_RUNDIR, what, scope()->reportdir, name, error,
                              failure);
}

/* virtlogd numbers its copies without gaps. */
static int
remove_copies(int directory, const char *name)
{
    int removed = 1;

    for (size_t i = 0; removed > 0 && i < LIMIT_REPORT_COPIES; i++) {
        cleanup_free char *copy = xasprintf("%s.%zu", name, i);

        removed = fs_remove_file(directory, copy);
    }
    return removed < 0 ? removed : 0;
}

static int
remove_second_name(int directory, const char *uuid)
{
    cleanup_free char *link = second_name(uuid);

    return fs_remove_file(directory, link);
}

/* Makes the file, or with `keep` sets the owner and mode of one that is there. Return: 0 or
 * -errno. */
static int
make_one(int directory, const char *name, uid_t writer, gid_t readers, mode_t mode,
         bool keep)
{
    const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    cleanup_close int present = -1;
    struct stat status;
    int error;

    if (keep)
        present = openat(directory, name, flags);
    if (keep && (present >= 0 || errno != ENOENT)) {
        if (present < 0 || fstat(present, &status) < 0)
            return -errno;
        if (!S_ISREG(status.st_mode))
            return -EINVAL;
        return fs_set_owner(present, writer, readers, mode);
    }
    error = tmpfile_open(&tmpfile, directory, name);
    if (error == 0)
        error = fs_set_owner(tmpfile.fd, writer, readers, mode);
    if (error == 0)
        error = tmpfile_publish(&tmpfile, name);
    return error == 0 ? remove_copies(directory, name) : error;
}

int
report_file_make(int root, const char *uuid, enum report_writer writer, bool keep,
                 struct failure **failure)
{
    cleanup_close int directory =
        own_directory_open(root, scope()->reportdir, scope()->pass_mode, failure);
    cleanup_free char *name = file_name(uuid, REPORT_SUFFIX);
    cleanup_free char *log = file_name(uuid, LOG_SUFFIX);
    cleanup_free char *link = second_name(uuid);
    const uid_t user = writer == REPORT_BY_SHIM ? qemu_user_find(root).uid : geteuid();
    const char *made = name;
    int error;

    if (directory < 0)
        return -1;
    error = make_one(directory, name, user, libvirt_group(root), REPORT_MODE, keep);
    if (error == 0)
        error = writer == REPORT_BY_SHIM ? fs_link_again(directory, name, link)
                                         : remove_second_name(directory, uuid);
    if (error >= 0 && writer == REPORT_AND_LOG_BY_VIRTLOGD) {
        made = log;
        error = make_one(directory, log, geteuid(), getegid(), LOG_MODE, keep);
    }
    return error < 0 ? fail("make", made, error, failure) : 0;
}

bool
report_file_has_content(int root, const char *uuid)
{
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->reportdir);
    cleanup_free char *name = file_name(uuid, REPORT_SUFFIX);
    struct stat status;

    if (directory < 0 || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return S_ISREG(status.st_mode) && status.st_size > 0;
}

int
report_file_remove(int root, const char *uuid, struct failure **failure)
{
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->reportdir);
    cleanup_free char *name = file_name(uuid, REPORT_SUFFIX);
    int error = fs_remove_file(directory, name);

    if (error >= 0)
        error = remove_second_name(directory, uuid);
    if (error >= 0)
        error = remove_copies(directory, name);
    return error < 0 ? fail("remove", name, error, failure) : 0;
}

/* --- reading ------------------------------------------------------------------------ */

int
report_file_open_end(int directory, const char *name, size_t limit, struct stat *status)
{
    cleanup_close int fd = fs_open_strictly_beneath(directory, name, 0);
    off_t surplus;

    if (fd < 0)
        return fd;
    if (fstat(fd, status) < 0)
        return -errno;
    if (!S_ISREG(status->st_mode))
        return -EINVAL;
    surplus = status->st_size - (off_t)limit;
    if (surplus > 0 && lseek(fd, surplus, SEEK_SET) < 0)
        return -errno;
    return steal_fd(fd);
}

int
report_file_read_end(int directory, const char *name, size_t limit, struct buffer *text,
                     struct stat *status)
{
    cleanup_close int fd = report_file_open_end(directory, name, limit, status);
    const int error = fd < 0 ? fd : fs_read_all(fd, limit, text);

    /* The guest has written more meanwhile. */
    return error == -ENOENT || error == -EFBIG ? 0 : error;
}

int
report_file_read(int root, const char *uuid, struct buffer *text, time_t *written,
                 struct failure **failure)
{
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->reportdir);
    cleanup_free char *name = file_name(uuid, REPORT_SUFFIX);
    struct stat status = {0};
    const int error =
        report_file_read_end(directory, name, LIMIT_REPORT_FILE, text, &status);

    *written = status.st_mtime;
    if (error < 0)
        return own_directory_fail(FAILURE_SYSTEM, "read", scope()->reportdir, name, error,
                                  failure);
    return 0;
}

/* --- the log ------------------------------------------------------------------------ */

static int
keep_log(int root, const char *name, const struct buffer *text, const struct stat *status,
         struct failure **failure)
{
    const struct timespec times[] = {status->st_mtim, status->st_mtim};
    cleanup_close int statedir = statedir_make(root);
    const size_t size = text->size < LIMIT_LOG ? text->size : LIMIT_LOG;
    int error = statedir;

    if (statedir >= 0)
        error = fs_replace_file(statedir, name, text->data, size, LOG_MODE, (gid_t)-1);
    /* `logs` says when the guest has sent it. */
    if (error == 0)
        utimensat(statedir, name, times, AT_SYMLINK_NOFOLLOW);
    if (error < 0)
        return own_directory_fail(FAILURE_RUNDIR, "keep", scope()->statedir, name, error,
                                  failure);
    return 0;
}

int
log_file_keep(int root, const char *uuid, struct failure **failure)
{
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->reportdir);
    cleanup_free char *name = file_name(uuid, LOG_SUFFIX);
    cleanup_buffer struct buffer text = {0};
    struct stat status = {0};
    int error = report_file_read_end(directory, name, LIMIT_LOG, &text, &status);

    /* What a device of the domain's has made in its place goes, too. */
    if (error == -EINVAL || error == -ELOOP || error == -ENXIO)
        error = 0;
    if (error < 0)
        return fail("read", name, error, failure);
    if (text.size > 0 && keep_log(root, name, &text, &status, failure) < 0)
        return -1;
    /* In a session, it is what has just been kept. */
    if (text.size == 0 || scope()->statedir != scope()->reportdir)
        error = fs_remove_file(directory, name);
    if (error >= 0)
        error = remove_copies(directory, name);
    return error < 0 ? fail("remove", name, error, failure) : 0;
}

int
log_file_forget(int root, const char *uuid, enum report_writer writer,
                struct failure **failure)
{
    const char *const directories[] = {scope()->statedir, scope()->reportdir};
    const size_t count = writer == REPORT_AND_LOG_BY_VIRTLOGD ? 1 : 2;
    cleanup_free char *name = file_name(uuid, LOG_SUFFIX);

    for (size_t i = 0; i < count; i++) {
        cleanup_close int directory = fs_open_directory_in_root(root, directories[i]);
        const int error = fs_remove_file(directory, name);

        if (error < 0)
            return own_directory_fail(FAILURE_RUNDIR, "remove", directories[i], name,
                                      error, failure);
    }
    return 0;
}
