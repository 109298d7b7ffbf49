/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/file.h>

#include "base/fs.h"
#include "base/names.h"
#include "host/libvirt-host.h"
#include "host/own-directory.h"
#include "host/record-file.h"

/* A record that says nothing. */
#define EMPTY_RECORD "{}\n"
/* How long to wait for a lock: a fifth of a second. */
#define LOCK_ATTEMPTS 10
#define LOCK_MILLISECONDS 20

static int
fail_at(const char *name, int error, const char *what, struct failure **failure)
{
    if (error == -EFBIG)
        return failure_set(failure, FAILURE_RECORD,
                           "%s/%s has more than %lu KiB\n"
                           "remove it; the next start writes it again",
                           scope()->statedir, name, LIMIT_RECORD / KIB);
    return own_directory_fail(FAILURE_RECORD, what, scope()->statedir, name, error,
                              failure);
}

int
record_read_text(int root, const char *uuid, struct buffer *text,
                 struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s" RECORD_SUFFIX, uuid);
    int error = fs_read_below(root, scope()->statedir, name, LIMIT_RECORD, text);

    if (error == -ENOENT)
        return 0;
    if (error < 0)
        return fail_at(name, error, "read", failure);
    /* To everyone else, no text is no record. */
    if (text->size == 0)
        return failure_set(failure, FAILURE_RECORD,
                           "%s/%s is empty\nremove it; the next start writes it again",
                           scope()->statedir, name);
    return 0;
}

int
record_write_text(int root, const char *uuid, const struct buffer *text,
                  struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s" RECORD_SUFFIX, uuid);
    cleanup_close int directory = statedir_make(root);
    int error;

    if (directory < 0)
        error = directory;
    else if (strcmp(buffer_text(text), EMPTY_RECORD) == 0)
        error = fs_remove_file(directory, name);
    else if (text->size > LIMIT_RECORD)
        error = -EFBIG;
    else
        error = fs_replace_file(directory, name, text->data, text->size, 0640,
                                libvirt_group(root));
    return error < 0 ? fail_at(name, error, "write", failure) : 0;
}

/* --- the next record ---------------------------------------------------------------- */

struct timespec
record_changed(int root, const char *uuid)
{
    cleanup_free char *path = xasprintf("%s/%s" RECORD_SUFFIX, scope()->statedir, uuid);
    struct stat status;

    if (fs_stat_in_root(root, path, &status) < 0)
        return (struct timespec){0};
    return status.st_mtim;
}

int
record_touch(int root, const char *uuid, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s" RECORD_SUFFIX, uuid);
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->statedir);
    int error = directory;

    if (directory >= 0 && utimensat(directory, name, NULL, AT_SYMLINK_NOFOLLOW) < 0)
        error = -errno;
    return error < 0 ? fail_at(name, error, "write", failure) : 0;
}

/* The file's time is that of the record which it is made from; with another one, as after a
 * kill in between, both are merged. */
int
record_write_next(int root, const char *uuid, const struct buffer *text,
                  const struct timespec *changed, struct failure **failure)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, *changed};
    cleanup_free char *name = xasprintf("%s" NEXT_RECORD_SUFFIX, uuid);
    cleanup_close int directory = statedir_make(root);
    int error = directory;

    if (error >= 0)
        error = fs_replace_file(directory, name, text->data, text->size, 0640,
                                libvirt_group(root));
    if (error == 0 && utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW) < 0)
        error = -errno;
    return error < 0 ? fail_at(name, error, "write", failure) : 0;
}

int
record_take_next(int root, const char *uuid, struct buffer *text,
                 struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s" NEXT_RECORD_SUFFIX, uuid);
    cleanup_free char *present = xasprintf("%s" RECORD_SUFFIX, uuid);
    cleanup_close int directory = statedir_make(root);
    const struct timespec changed = record_changed(root, uuid);
    struct stat status;
    int error;

    if (directory < 0)
        return fail_at(name, directory, "read", failure);
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : fail_at(name, -errno, "read", failure);
    if (status.st_mtim.tv_sec == changed.tv_sec &&
        status.st_mtim.tv_nsec == changed.tv_nsec) {
        if (utimensat(directory, name, NULL, AT_SYMLINK_NOFOLLOW) < 0 ||
            renameat(directory, name, directory, present) < 0)
            return fail_at(present, -errno, "write", failure);
        return 0;
    }
    error = fs_read_below(root, scope()->statedir, name, LIMIT_RECORD, text);
    unlinkat(directory, name, 0);
    return error < 0 ? fail_at(name, error, "read", failure) : 0;
}

void
record_forget_next(int root, const char *uuid)
{
    cleanup_free char *name = xasprintf("%s" NEXT_RECORD_SUFFIX, uuid);
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->statedir);

    fs_remove_file(directory, name);
}

/* Locks the directory itself. Other users may be able to lock it, too, and must not delay
 * a domain's start or end for long. Changing a record takes milliseconds, unless a maker reads
 * a guest's report meanwhile. */
int
record_lock(int root)
{
    const struct timespec pause = {.tv_nsec = LOCK_MILLISECONDS * 1000000L};
    cleanup_close int directory = statedir_make(root);

    for (int i = 0; directory >= 0 && i < LOCK_ATTEMPTS; i++) {
        if (flock(directory, LOCK_EX | LOCK_NB) == 0)
            return steal_fd(directory);
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -1;
        nanosleep(&pause, NULL);
    }
    return -1;
}
