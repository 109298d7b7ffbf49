/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the files are listed first, and libvirt is asked for each domain right
 * before its files are removed. So if a domain is created meanwhile, either its files are
 * not in the list, or libvirt knows it. libvirt is asked for each UUID, because a list
 * omits the domains that the caller may not see.
 *
 * A transient domain is unknown whenever it does not run, and some domains are undefined
 * only to be defined again. libvirt does not tell when a definition went, so the first gc
 * that misses the domain notes it (UUID.gone), and a week counts from then.
 */
#include "config.h"

#include <libvirt/virterror.h>

#include "base/names.h"
#include "cli/cli.h"
#include "cli/images.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "host/own-directory.h"
#include "store/leftovers.h"
#include "store/record.h"

#define KEPT_SECONDS (7L * 24 * 60 * 60)

struct options {
    bool all;
};

static bool
is_mark(const struct leftover *leftover)
{
    return strcmp(leftover->name + UUID_LENGTH, GONE_SUFFIX) == 0;
}

/* Return: why what lasts of the domain that left all of these is kept, or NULL; `is_news`:
 * nobody has noticed before that the domain is gone. */
static const char *
find_reason(int root, const struct leftover *list, size_t count, bool *is_news)
{
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *failure = NULL;
    const time_t now = time(NULL);
    bool is_recent = false;

    /* A record that cannot be read may be that of such a guest. */
    if (record_read(root, list->uuid, &record, &failure) < 0 || record.done)
        return ": its guest is set up; gc --all removes it";
    *is_news = true;
    for (size_t i = 0; i < count; i++) {
        *is_news = *is_news && !is_mark(&list[i]);
        is_recent = is_recent || now - list[i].changed < KEPT_SECONDS;
    }
    if (*is_news)
        return ": for a week from now";
    return is_recent ? ": the domain was there less than a week ago" : NULL;
}

/* Return: 1 if libvirt knows the domain, 0 if it does not, or -1. */
static int
is_known(virConnectPtr connection, const char *uuid, struct failure **failure)
{
    cleanup_libvirt_domain virDomainPtr domain =
        virDomainLookupByUUIDString(connection, uuid);

    if (domain)
        return 1;
    if (virGetLastErrorCode() == VIR_ERR_NO_DOMAIN)
        return 0;
    return libvirt_fail(failure, "could not ask libvirt for domain %s", uuid);
}

static int
remove_one(const struct context *context, const struct leftover *leftover,
           const char *reason, struct failure **failure)
{
    const char *what = "kept";

    if (reason && is_mark(leftover))
        return 0;
    if (!reason)
        what = context->dry_run ? "would remove" : "removed";
    if (!reason && !context->dry_run &&
        leftover_remove(context->root, leftover, failure) < 0)
        return -1;
    if (!context->quiet)
        print_outside_line(stdout, "%s %s/%s%s", what, leftover->directory,
                           leftover->name, reason ? reason : "");
    return 0;
}

/* --- images and disks ------------------------------------------------------------------- */

/* Return: whether the name is one of image_fetch() or disk_make(), before they are done. */
static bool
is_temporary(const char *name)
{
    const bool is_disk = strstr(name, QCOW2_SUFFIX TEMPORARY_SUFFIX) ||
                         strstr(name, RAW_SUFFIX TEMPORARY_SUFFIX);

    return image_is_partial(name) || (is_disk && is_temporary_name(name));
}

static void
clean_pool(const struct context *context, virConnectPtr connection, const char *name)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_pool struct pool pool = POOL_NONE;
    cleanup_closedir DIR *entries = NULL;
    const struct dirent *entry;

    if (pool_open(&pool, connection, name, true, &ignored) < 0 || pool.directory < 0)
        return;
    entries = fs_list(pool.directory);
    while ((entry = fs_next(entries))) {
        const bool is_removed =
            is_temporary(entry->d_name) &&
            fs_remove_abandoned(pool.directory, entry->d_name, context->dry_run);

        if (is_removed && !context->quiet)
            print_outside_line(stdout, "%s %s/%s",
                               context->dry_run ? "would remove" : "removed", pool.path,
                               entry->d_name);
    }
}

/* Removes what killed commands have left in the pools, and that the caller may remove. */
static void
clean_pools(const struct context *context, virConnectPtr connection)
{
    virStoragePoolPtr *pools = NULL;
    const int count = virConnectListAllStoragePools(connection, &pools,
                                                    VIR_CONNECT_LIST_STORAGE_POOLS_DIR);

    for (int i = 0; i < count; i++) {
        clean_pool(context, connection, virStoragePoolGetName(pools[i]));
        virStoragePoolFree(pools[i]);
    }
    free(pools);
}

/* --- the command ------------------------------------------------------------------------ */

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_connection virConnectPtr connection =
        libvirt_connect_here(context, true, failure);
    cleanup_leftovers struct leftovers leftovers = {0};
    size_t end;

    if (!connection || libvirt_require_own(connection, failure) < 0 ||
        leftovers_find(context->root, &leftovers, failure) < 0)
        return -1;
    /* The list is sorted: what is one domain's is together. */
    for (size_t start = 0; start < leftovers.count; start = end) {
        const struct leftover *list = &leftovers.list[start];
        const char *uuid = list->uuid;
        int known = is_known(connection, uuid, failure);
        const char *reason = NULL;
        bool is_news = false;

        if (known < 0)
            return -1;
        end = start + 1;
        while (end < leftovers.count && strcmp(leftovers.list[end].uuid, uuid) == 0)
            end++;
        if (!options->all && !known)
            reason = find_reason(context->root, list, end - start, &is_news);
        if (!context->dry_run && (known || is_news))
            leftovers_note_gone(context->root, uuid, !known);
        if (!context->dry_run && known)
            abandoned_remove(context->root, uuid);
        for (size_t i = start; i < end && !known; i++) {
            const struct leftover *leftover = &leftovers.list[i];

            if (remove_one(context, leftover, leftover->lasting ? reason : NULL,
                           failure) < 0)
                return -1;
        }
    }
    clean_pools(context, connection);
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "all", NULL, all, "also remove what is kept"),
    OPTION_END,
};

const struct command cmd_gc = {
    .name = "gc",
    .summary = "remove what is left of domains that no longer exist",
    .help =
        "Removes the records, generated secrets, reports, logs and seeds of domains that\n"
        "are neither defined nor running. Records and secrets are kept for a week after\n"
        "gc has first missed the domain, because it may come back; those of a guest that\n"
        "is set up (boots=\"until-done\") are kept until gc --all.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_DRY_RUN,
    .run = run,
};
