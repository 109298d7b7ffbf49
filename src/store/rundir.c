/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "store/own-directory.h"
#include "store/rundir.h"

/* QEMU's user must be able to open its seed, but not to list the others. */
#define RUNDIR_MODE 0711

int
rundir_open(int root, struct failure **failure)
{
    return own_directory_open(root, VIRT_SEED_RUNDIR, RUNDIR_MODE, failure);
}

char *
rundir_seed_name(const char *uuid)
{
    return xasprintf("%s" SEED_SUFFIX, uuid);
}

/* --- the mark of a resumed start -------------------------------------------------- */

int
rundir_mark_resume(int rundir, const char *uuid, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s" RESUME_SUFFIX, uuid);
    cleanup_close int fd = -1;

    unlinkat(rundir, name, 0);
    fd = openat(rundir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? own_directory_fail("make", VIRT_SEED_RUNDIR, name, -errno, failure)
                  : 0;
}

bool
rundir_take_resume(int rundir, const char *uuid)
{
    cleanup_free char *name = xasprintf("%s" RESUME_SUFFIX, uuid);
    cleanup_free char *resumed = xasprintf("%s" RESUMED_SUFFIX, uuid);
    struct stat status;
    struct timespec now;
    time_t age;
    bool fresh;

    if (fstatat(rundir, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    /* time(2) may return an earlier time than that of a file just made. */
    clock_gettime(CLOCK_REALTIME, &now);
    age = now.tv_sec - status.st_mtime;
    fresh = S_ISREG(status.st_mode) && age >= 0 && age <= LIMIT_RESUME_SECONDS;
    if (!fresh || renameat(rundir, name, rundir, resumed) < 0)
        unlinkat(rundir, name, 0);
    return fresh;
}

bool
rundir_is_resumed(int rundir, const char *uuid, const struct stat *seed)
{
    cleanup_free char *name = xasprintf("%s" RESUMED_SUFFIX, uuid);
    struct stat status;

    /* A stale mark, which no release removed, is older than the seed by more than a start
     * takes. */
    return fstatat(rundir, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           seed->st_mtime - status.st_ctime <= LIMIT_RESUME_SECONDS;
}

/* --- for the emulator shim -------------------------------------------------------- */

int
rundir_write_shim_order(int rundir, const char *uuid, const char *serial, bool report,
                        struct failure **failure)
{
    cleanup_free char *order = xasprintf("%s" SHIM_ORDER_SUFFIX, uuid);
    cleanup_free char *seed = rundir_seed_name(uuid);
    cleanup_free char *link = second_name(uuid);
    cleanup_free char *lines =
        xasprintf("%s\n%s", serial, report ? SHIM_ORDER_REPORT : "");
    int error = fs_link_again(rundir, seed, link);

    /* Readable by QEMU's user, but not owned by that user, who could change it. */
    if (error == 0)
        error = fs_replace_file(rundir, order, lines, 0644, (gid_t)-1);
    return error < 0 ? own_directory_fail("make", VIRT_SEED_RUNDIR, order, error, failure)
                     : 0;
}

/* Every name of the domain's, so also what killed processes have left. */
static int
remove_files(int rundir, const char *uuid, bool marks, struct failure **failure)
{
    cleanup_closedir DIR *dir = fs_list(rundir);
    int error = dir ? 0 : errno;
    const struct dirent *entry;

    while (dir && (errno = 0, entry = readdir(dir))) {
        const char *suffix = entry->d_name + strlen(uuid);

        if (strncmp(entry->d_name, uuid, strlen(uuid)) != 0 ||
            (!marks &&
             (strcmp(suffix, RESUME_SUFFIX) == 0 || strcmp(suffix, RESUMED_SUFFIX) == 0)))
            continue;
        if (unlinkat(rundir, entry->d_name, 0) < 0 && errno != ENOENT)
            error = errno;
    }
    if (dir && errno != 0)
        error = errno;
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_RUNDIR, error,
                             "could not remove the domain's files from %s\n"
                             "remove them; they contain the domain's seed",
                             VIRT_SEED_RUNDIR);
}

int
rundir_remove_seed(int rundir, const char *uuid, struct failure **failure)
{
    return remove_files(rundir, uuid, false, failure);
}

int
rundir_remove(int rundir, const char *uuid, struct failure **failure)
{
    return remove_files(rundir, uuid, true, failure);
}
