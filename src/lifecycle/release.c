/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How records are swept: libvirt does not call a hook when a domain is undefined, so its
 * record stays. The hook cannot ask libvirt, but libvirt's definitions are files named
 * after domains, and a transient domain that has been running for 90 days has its seed in
 * the run-time directory. A domain that has been renamed loses only its digests: a record
 * with 'done' is kept.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "lifecycle/lifecycle.h"
#include "store/leftovers.h"
#include "store/record.h"
#include "store/report-file.h"
#include "store/rundir.h"
#include "store/storage.h"
#include "wire/wire.h"

#define DAYS 90
#define DAY (24L * 60 * 60)

/* There is no seed after a refused start. If one storage fails, the others are still
 * cleaned. */
static int
remove_seed(const struct lifecycle *lifecycle, struct failure **failure)
{
    const char *uuid = lifecycle->domain->uuid;
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);
    bool was_there = false;

    if (rundir < 0)
        return -1;
    for (size_t i = 0; storages[i]; i++)
        was_there = was_there || storage_inode(storages[i], rundir, uuid) != 0;
    rundir_remove(rundir, uuid, failure);
    for (size_t i = 0; storages[i]; i++) {
        cleanup_failure struct failure *another = NULL;

        if (storages[i]->withdraw(rundir, uuid, *failure ? &another : failure) < 0 &&
            another)
            lifecycle_log_failure(
                lifecycle, "another part of the seed could not be removed", another);
    }
    if (*failure)
        return -1;
    if (was_there)
        lifecycle_log_event(lifecycle, LIFECYCLE_SEED_REMOVED, NULL, "seed removed");
    return 0;
}

/* --- records of domains that are gone ----------------------------------------------- */

static bool
is_old(int directory, const char *name)
{
    struct stat status;

    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && time(NULL) - status.st_mtime > DAYS * DAY;
}

/* Return: whether the file certainly does not exist. Without the directory, nothing is
 * certain. */
static bool
is_missing(int root, const char *directory_path, const char *name)
{
    cleanup_close int directory = fs_open_directory_in_root(root, directory_path);
    cleanup_close int fd = -1;

    if (directory < 0)
        return false;
    fd = fs_open_beneath(directory, name, 0);
    return fd == -ENOENT;
}

static bool
is_gone(int root, const char *uuid)
{
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_free char *definition = NULL;

    if (record_read(root, uuid, &record, &failure) < 0 || record.done ||
        !record.boot.name)
        return false;
    definition = xasprintf("%s.xml", record.boot.name);
    for (size_t i = 0; storages[i]; i++) {
        cleanup_free char *seed = storages[i]->name(uuid);

        if (!is_missing(root, VIRT_SEED_RUNDIR, seed))
            return false;
    }
    return is_missing(root, VIRT_SEED_DEFINITIONS, definition);
}

/* Removes records of domains that have neither run for 90 days nor have a definition, but
 * never one that says that a guest is set up. Looks at no more than LIMIT_SWEEP names,
 * logs nothing, and stops if it cannot lock the records. */
static void
sweep_records(const struct lifecycle *lifecycle)
{
    cleanup_close int fd = fs_open_directory_in_root(lifecycle->root, VIRT_SEED_STATEDIR);
    cleanup_closedir DIR *dir = fd < 0 ? NULL : fs_list(fd);
    const struct dirent *entry;

    for (int i = 0; dir && i < LIMIT_SWEEP && (entry = readdir(dir)); i++) {
        const char *name = entry->d_name;
        cleanup_close int lock = -1;
        char uuid[UUID_LENGTH + 1];

        if (!leftover_names_domain(name, uuid) ||
            strcmp(name + strlen(uuid), RECORD_SUFFIX) != 0 || !is_old(dirfd(dir), name))
            continue;
        lock = record_lock(lifecycle->root);
        if (lock < 0)
            return;
        if (is_old(dirfd(dir), name) && is_gone(lifecycle->root, uuid))
            unlinkat(dirfd(dir), name, 0);
    }
}

/* --- the operation ------------------------------------------------------------------ */

/* Removes the seed before it reads anything that the guest has written. */
int
lifecycle_release(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *another = NULL;
    cleanup_wire_facts struct wire_facts facts = {0};
    int result = remove_seed(lifecycle, failure);

    wire_facts_read(&facts, lifecycle->domain);
    /* A rehearsal, which asks for nothing, reports to `virt-seed try` alone. */
    if (facts.asks)
        lifecycle_record_result(lifecycle);
    if (report_file_remove(lifecycle->root, lifecycle->domain->uuid,
                           result < 0 ? &another : failure) < 0)
        result = -1;
    sweep_records(lifecycle);
    return result;
}
