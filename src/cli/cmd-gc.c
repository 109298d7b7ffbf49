/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the files are listed first, and libvirt is asked for each domain right
 * before its files are removed. So if a domain is created meanwhile, either its files are
 * not in the list, or libvirt knows it. libvirt is asked for each UUID, because a list
 * omits the domains that the caller may not see.
 *
 * A transient domain is unknown whenever it does not run, and some domains are undefined
 * only to be defined again. So what lasts from one start to the next is kept for a week.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <libvirt/virterror.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/garbage.h"
#include "cli/libvirt.h"

#define DAY (24L * 60 * 60)
#define KEPT_DAYS 7

struct options {
    bool all;
    bool dry_run;
};

struct collection {
    const struct context *context;
    bool dry_run;
};

int
garbage_find(virConnectPtr connection, int root, bool all,
             int (*visit)(void *data, const struct leftover *leftover, bool kept,
                          struct failure **failure),
             void *data, struct failure **failure)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    time_t now = time(NULL);
    size_t end;

    if (leftovers_find(root, &leftovers, failure) < 0)
        return -1;
    /* The list is sorted: what is one domain's is together. */
    for (size_t start = 0; start < leftovers.count; start = end) {
        const char *uuid = leftovers.list[start].uuid;
        virDomainPtr domain = virDomainLookupByUUIDString(connection, uuid);
        bool recent = false;

        for (end = start;
             end < leftovers.count && strcmp(leftovers.list[end].uuid, uuid) == 0; end++)
            recent = recent || now - leftovers.list[end].changed < KEPT_DAYS * DAY;
        if (domain) {
            virDomainFree(domain);
            continue;
        }
        if (virGetLastErrorCode() != VIR_ERR_NO_DOMAIN)
            return libvirt_fail(failure, "could not ask libvirt for domain %s", uuid);
        for (size_t i = start; i < end; i++) {
            const struct leftover *leftover = &leftovers.list[i];

            if (visit(data, leftover, !all && recent && leftover->lasting, failure) < 0)
                return -1;
        }
    }
    return 0;
}

static int
remove_one(void *data, const struct leftover *leftover, bool kept,
           struct failure **failure)
{
    const struct collection *collection = data;
    const struct context *context = collection->context;
    const char *what = kept ? "kept" : collection->dry_run ? "would remove" : "removed";

    if (!kept && !collection->dry_run &&
        leftover_remove(context->root, leftover, failure) < 0)
        return -1;
    if (!context->quiet)
        print_outside_line(stdout, "%s %s/%s%s", what, leftover->directory,
                           leftover->name,
                           kept ? ": the domain was used less than a week ago" : "");
    return 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_connection virConnectPtr connection =
        libvirt_connect(context->uri, true, failure);
    struct collection collection = {.context = context, .dry_run = options->dry_run};

    if (!connection || libvirt_require_system(connection, failure) < 0)
        return -1;
    return garbage_find(connection, context->root, options->all, remove_one, &collection,
                        failure);
}

static const struct option_row rows[] = {
    OPTION(0, "all", NULL, all, "also remove what is kept for a week"),
    OPTION(0, "dry-run", NULL, dry_run, "list what would be removed, and remove nothing"),
    OPTION_END,
};

const struct command cmd_gc = {
    .name = "gc",
    .summary = "remove what is left of domains that no longer exist",
    .help =
        "Removes the records, generated secrets, reports and seeds of domains that are\n"
        "neither defined nor running. Records and secrets are kept for a week after the\n"
        "domain was last used, because a transient or undefined domain may come back.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
