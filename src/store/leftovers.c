/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/file.h>

#include "base/fs.h"
#include "base/names.h"
#include "host/own-directory.h"
#include "host/rundir.h"
#include "host/storage.h"
#include "store/leftovers.h"

struct directory {
    const char *path; /* NULL if the scope has none */
    bool lasting;
    /* Of the UUID, ended by NULL; TEMPORARY_SUFFIX may follow them. */
    const char *suffixes[8];
};

static bool
may_follow(const char *suffix, const char *more, const char *uuid)
{
    size_t digits;

    if (strcmp(suffix, SECOND_NAME_INFIX) == 0)
        return strcmp(more, uuid) == 0;
    if (!*more || text_matches(more, TEMPORARY_SUFFIX "xxxxxxxx"))
        return true;
    /* virtlogd's copies */
    if (strcmp(suffix, REPORT_SUFFIX) != 0 && strcmp(suffix, LOG_SUFFIX) != 0)
        return false;
    if (*more != '.')
        return false;
    digits = strspn(more + 1, "0123456789");
    return digits >= 1 && digits <= 3 && !more[1 + digits];
}

/* People may keep other files there, such as a copy of a domain's key. `uuid` gets the
 * beginning of the name. */
static bool
is_of_virt_seed(const struct directory *directory, const char *name,
                char uuid[UUID_LENGTH + 1])
{
    const size_t length = strnlen(name, UUID_LENGTH);
    memcpy(uuid, name, length);
    uuid[length] = '\0';
    if (!text_is_uuid(uuid))
        return false;
    for (const char *const *suffix = directory->suffixes; *suffix; suffix++) {
        const char *rest = name + UUID_LENGTH;

        if (strncmp(rest, *suffix, strlen(*suffix)) == 0 &&
            may_follow(*suffix, rest + strlen(*suffix), uuid))
            return true;
    }
    return false;
}

/* --- finding ---------------------------------------------------------------------- */

static int
fail_at(const char *directory, int error, const char *what, struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_SYSTEM, error,
                             "could not %s %s\ncheck it as %s: ls -l %s", what, directory,
                             scope()->owner_name, directory);
}

/* Return: whether it is the directory of a rehearsal, whose process still runs. */
static bool
is_locked(int directory, const char *name)
{
    cleanup_close int fd =
        openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static int
find_in(struct leftovers *leftovers, int root, const struct directory *directory,
        struct failure **failure)
{
    const char *path = directory->path;
    cleanup_close int fd = path ? fs_open_directory_in_root(root, path) : -ENOENT;
    cleanup_closedir DIR *dir = fd < 0 ? NULL : fs_list(fd);
    const struct dirent *entry;

    if (fd == -ENOENT)
        return 0;
    if (!dir)
        return fail_at(path, fd < 0 ? fd : errno, "open", failure);
    while ((entry = fs_next(dir))) {
        struct leftover leftover = {
            .directory = path,
            .lasting = directory->lasting && !is_temporary_name(entry->d_name),
        };
        struct stat status;

        if (!is_of_virt_seed(directory, entry->d_name, leftover.uuid) ||
            fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
            is_locked(dirfd(dir), entry->d_name))
            continue;
        if (leftovers->count == LIMIT_LEFTOVERS)
            return failure_set(failure, FAILURE_LIMIT,
                               "%s has more than %u files of domains", path,
                               LIMIT_LEFTOVERS);
        leftover.name = xstrdup(entry->d_name);
        leftover.changed = status.st_mtime;
        *array_add(leftovers->list, leftovers->count) = leftover;
    }
    return errno == 0 ? 0 : fail_at(path, errno, "list", failure);
}

static int
compare(const void *one, const void *other)
{
    return strcmp(((const struct leftover *)one)->uuid,
                  ((const struct leftover *)other)->uuid);
}

int
leftovers_find(int root, struct leftovers *leftovers, struct failure **failure)
{
    const struct scope *own = scope();
    /* In a session, the logs that are kept are among the reports. */
    const bool has_kept_logs = own->reportdir != own->statedir;
    const struct directory directories[] = {
        {has_kept_logs ? own->statedir : NULL, false, {LOG_SUFFIX}},
        {own->statedir,
         true,
         {RECORD_SUFFIX, NEXT_RECORD_SUFFIX, "." HOST_KEY_PUBLIC_NAME, GONE_SUFFIX}},
        {own->domain_secrets, true, {""}},
        {own->reportdir, false, {REPORT_SUFFIX, LOG_SUFFIX, SECOND_NAME_INFIX}},
        {own->rundir,
         false,
         {SEED_SUFFIX, SEED_MADE_SUFFIX, SEED_OLD_SUFFIX, RESUMED_SUFFIX,
          SHIM_ORDER_SUFFIX, SECOND_NAME_INFIX}},
        {own->trydir, false, {""}},
        {own->imds_tree, false, {""}},
    };

    *leftovers = (struct leftovers){0};
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        if (find_in(leftovers, root, &directories[i], failure) < 0)
            return -1;
    }
    if (leftovers->count > 0)
        qsort(leftovers->list, leftovers->count, sizeof(*leftovers->list), compare);
    return 0;
}

/* --- removing --------------------------------------------------------------------- */

int
leftover_remove(int root, const struct leftover *leftover, struct failure **failure)
{
    cleanup_free char *what = xasprintf("remove %s from", leftover->name);
    cleanup_close int directory = -1;
    cleanup_close int lock = -1;
    int error;

    /* Of served documents, everything of the domain. */
    if (leftover->directory == scope()->imds_tree) {
        cleanup_close int rundir = rundir_open(root, failure);

        return rundir < 0 ? -1 : storage_imds.withdraw(rundir, leftover->uuid, failure);
    }
    directory = fs_open_directory_in_root(root, leftover->directory);
    if (directory == -ENOENT)
        return 0;
    error = directory < 0 ? directory : 0;
    /* A rehearsal that has begun meanwhile has it; one that begins now makes another. */
    if (error == 0)
        lock = openat(directory, leftover->name,
                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0)
        error = -errno;
    if (error == 0)
        error = fs_remove_tree(directory, leftover->name);
    return error == 0 ? 0 : fail_at(leftover->directory, error, what, failure);
}

int
leftovers_note_gone(int root, const char *uuid, bool is_gone)
{
    cleanup_free char *name = xasprintf("%s" GONE_SUFFIX, uuid);
    cleanup_close int directory = fs_open_directory_in_root(root, scope()->statedir);

    if (directory < 0)
        return directory;
    if (is_gone)
        return fs_replace_file(directory, name, "", 0, 0600, (gid_t)-1);
    return unlinkat(directory, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

void
leftovers_clear(struct leftovers *leftovers)
{
    for (size_t i = 0; i < leftovers->count; i++)
        free(leftovers->list[i].name);
    free(leftovers->list);
    *leftovers = (struct leftovers){0};
}
