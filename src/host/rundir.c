/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "host/own-directory.h"
#include "host/rundir.h"

int
rundir_open(int root, struct failure **failure)
{
    /* QEMU's user must be able to open its seed, but not to list the others. */
    return own_directory_open(root, scope()->rundir, scope()->pass_mode, failure);
}

char *
rundir_seed_name(const char *uuid)
{
    return xasprintf("%s" SEED_SUFFIX, uuid);
}

static int
fail(const char *what, const char *name, int error, struct failure **failure)
{
    return own_directory_fail(FAILURE_RUNDIR, what, scope()->rundir, name, error,
                              failure);
}

int
rundir_fail_to_remove(const char *directory, const char *uuid, int error,
                      struct failure **failure)
{
    return failure_set_errno(
        failure, FAILURE_RUNDIR, error,
        "could not remove the domain's files from %s\n"
        "remove everything that begins with %s/%s; it contains the domain's seed",
        directory, directory, uuid);
}

/* --- the mark of a resumed start -------------------------------------------------- */

/* The mark says when it was made by a clock that nobody can set; a reboot removes the
 * mark. */
static long long
seconds_since_boot(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec;
}

int
rundir_mark_resume(int rundir, const char *domain, struct failure **failure)
{
    cleanup_free char *name = xasprintf(RESUME_PREFIX "%s", domain);
    cleanup_free char *mark = xasprintf("%lld\n", seconds_since_boot());
    int error = -EINVAL;

    if (!strchr(domain, '/'))
        error = fs_replace_file(rundir, name, mark, strlen(mark), 0600, (gid_t)-1);
    return error < 0 ? fail("make", name, error, failure) : 0;
}

bool
rundir_take_resume(int rundir, const char *domain, const char *uuid)
{
    cleanup_free char *name = xasprintf(RESUME_PREFIX "%s", domain);
    cleanup_free char *resumed = xasprintf("%s" RESUMED_SUFFIX, uuid);
    cleanup_buffer struct buffer text = {0};
    cleanup_close int fd =
        strchr(domain, '/') ? -ENOENT : fs_open_strictly_beneath(rundir, name, 0);
    long long age = -1;

    if (fd >= 0 && fs_read_all(fd, sizeof("9223372036854775807"), &text) == 0 &&
        text.size > 0)
        age = seconds_since_boot() - strtoll(text.data, NULL, 10);
    if (age >= 0 && age < LIMIT_RESUME_SECONDS &&
        renameat(rundir, name, rundir, resumed) == 0)
        return true;
    if (fd != -ENOENT)
        unlinkat(rundir, name, 0);
    /* If an earlier start has had no release. */
    unlinkat(rundir, resumed, 0);
    return false;
}

bool
rundir_is_resumed(int rundir, const char *uuid)
{
    cleanup_free char *name = xasprintf("%s" RESUMED_SUFFIX, uuid);

    return faccessat(rundir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int
rundir_forget_resumed(int rundir, const char *uuid, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s" RESUMED_SUFFIX, uuid);
    const int error = fs_remove_file(rundir, name);

    return error < 0 ? fail("remove", name, error, failure) : 0;
}

/* --- for the emulator shim -------------------------------------------------------- */

int
rundir_write_shim_order(int rundir, const char *uuid, const char *word, bool report,
                        struct failure **failure)
{
    cleanup_free char *order = xasprintf("%s" SHIM_ORDER_SUFFIX, uuid);
    cleanup_free char *seed = rundir_seed_name(uuid);
    cleanup_free char *link = second_name(uuid);
    cleanup_free char *lines = xasprintf("%s\n%s", word, report ? SHIM_ORDER_REPORT : "");
    int error = fs_link_again(rundir, seed, link);

    /* Readable by QEMU's user, but not owned by that user, who could change it. */
    if (error == 0)
        error = fs_replace_file(rundir, order, lines, strlen(lines), 0644, (gid_t)-1);
    return error < 0 ? fail("make", order, error, failure) : 0;
}

/* Every name of the domain's, so also what killed processes have left. */
int
rundir_remove_seed(int rundir, const char *uuid, struct failure **failure)
{
    cleanup_closedir DIR *dir = fs_list(rundir);
    const struct dirent *entry;
    int error = 0;

    while ((entry = fs_next(dir))) {
        if (strncmp(entry->d_name, uuid, strlen(uuid)) != 0 ||
            strcmp(entry->d_name + strlen(uuid), RESUMED_SUFFIX) == 0)
            continue;
        if (unlinkat(rundir, entry->d_name, 0) < 0 && errno != ENOENT)
            error = errno;
    }
    if (errno != 0)
        error = errno;
    if (error == 0)
        return 0;
    return rundir_fail_to_remove(scope()->rundir, uuid, error, failure);
}
