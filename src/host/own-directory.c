/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "host/domain-secret.h"
#include "host/own-directory.h"

int
own_directory_make(int root, const char *path, mode_t mode)
{
    const char *const existing[] = {scope()->runtime, scope()->home};

    for (size_t i = 0; i < ARRAY_SIZE(existing); i++) {
        cleanup_close int above = -1;

        if (!existing[i] || !fs_is_below(path, existing[i]))
            continue;
        above = fs_open_directory_in_root(root, existing[i]);
        if (above < 0)
            return above;
        return fs_make_directories(above, path + strlen(existing[i]), mode);
    }
    return fs_make_directories(root, path, mode);
}

int
own_directory_check(uid_t found, mode_t mode, uid_t owner, const char *path,
                    struct failure **failure)
{
    if (found != owner)
        return failure_set(failure, FAILURE_RUNDIR,
                           "%s belongs to user %ld, expected %ld\n"
                           "find out who made it, and remove it",
                           path, (long)found, (long)owner);
    if (mode & 022)
        return failure_set(failure, FAILURE_RUNDIR,
                           "%s has mode %04o: others may write to it\n"
                           "find out what others put there, then remove it",
                           path, mode & 07777);
    return 0;
}

int
own_directory_open(int root, const char *path, mode_t mode, struct failure **failure)
{
    cleanup_close int fd = own_directory_make(root, path, mode);
    struct stat status;
    int error = fd < 0 ? fd : 0;

    if (error == 0 && fstat(fd, &status) < 0)
        error = -errno;
    if (error == -ELOOP || error == -ENOTDIR)
        return failure_set(
            failure, FAILURE_RUNDIR,
            "%s, or a directory above it, is a symbolic link or not a directory\n"
            "see 'namei -l %s'; if it is the last one, remove it, and start again",
            path, path);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_RUNDIR, error,
                                 "could not open %s\ncheck that it is writable: df %s",
                                 path, path);
    if (own_directory_check(status.st_uid, status.st_mode, geteuid(), path, failure) < 0)
        return -1;
    return steal_fd(fd);
}

int
own_directory_fail(enum failure_code code, const char *what, const char *path,
                   const char *name, int error, struct failure **failure)
{
    failure_set_errno(failure, code, error, "could not %s %s/%s", what, path, name);
    if (error == -EACCES && scope()->socketdir)
        return failure_hint(
            failure, "run it as root, or as a member of the file's group: ls -l %s/%s",
            path, name);
    return failure_hint(
        failure, "check the directory and its free space: ls -l %s; df %s", path, path);
}

/* --- the state directory ------------------------------------------------------------ */

int
statedir_make(int root)
{
    return own_directory_make(root, scope()->statedir, scope()->pass_mode);
}

/* --- what a kill has left ----------------------------------------------------------- */

bool
is_temporary_name(const char *name)
{
    const size_t length = strlen(name);
    const size_t end = strlen(TEMPORARY_SUFFIX "xxxxxxxx");

    return length > end && text_matches(name + length - end, TEMPORARY_SUFFIX "xxxxxxxx");
}

static void
remove_abandoned_in(int root, const char *path, const char *prefix)
{
    cleanup_close int fd = fs_open_directory_in_root(root, path);
    cleanup_closedir DIR *dir = fd < 0 ? NULL : fs_list(fd);
    const struct dirent *entry;

    while ((entry = fs_next(dir))) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            is_temporary_name(entry->d_name))
            fs_remove_abandoned(fd, entry->d_name, false);
    }
}

void
abandoned_remove(int root, const char *uuid)
{
    cleanup_free char *secrets = domain_secret_path(uuid, "");

    remove_abandoned_in(root, scope()->statedir, uuid);
    remove_abandoned_in(root, scope()->reportdir, uuid);
    remove_abandoned_in(root, secrets, "");
}
