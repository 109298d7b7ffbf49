/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the files are looked for first, and libvirt is asked for each domain right
 * before what is its own is removed: so what a domain brings along that is made meanwhile is
 * not seen, or is known. A domain that is asked for by its UUID is there, is not there, or
 * may not be seen; a list would leave the last ones out.
 *
 * A transient domain is unknown whenever it does not run, and one is often undefined to be
 * defined anew. So what lasts from one start to the next is kept for a week after the last.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <time.h>

#include <libvirt/virterror.h>

#include "base/cleanup.h"
#include "base/print.h"
#include "cli/cli.h"
#include "cli/libvirt.h"
#include "store/leftovers.h"

#define DAY (24L * 60 * 60)
#define KEPT_DAYS 7

struct collection {
    const struct context *context;
    virConnectPtr connection;
    bool dry_run;
    bool all;
};

static void
connection_pointer(virConnectPtr *connection)
{
    if (*connection)
        virConnectClose(*connection);
}

/* Return: 1 where libvirt has the domain, 0 where it has not, -1 where it does not say. */
static int
is_known(virConnectPtr connection, const char *uuid, struct failure **failure)
{
    virDomainPtr domain = virDomainLookupByUUIDString(connection, uuid);

    if (domain) {
        virDomainFree(domain);
        return 1;
    }
    return virGetLastErrorCode() == VIR_ERR_NO_DOMAIN
               ? 0
               : libvirt_fail(failure, "could not ask libvirt for domain %s", uuid);
}

static void
say(const struct collection *collection, const char *what,
    const struct leftover *leftover, const char *why)
{
    if (collection->context->quiet)
        return;
    printf("%s %s/", what, leftover->directory);
    print_outside_string(stdout, leftover->name);
    puts(why);
}

static int
remove_one(const struct collection *collection, const struct leftover *leftover,
           bool recent, struct failure **failure)
{
    if (recent && leftover->lasting) {
        say(collection, "kept", leftover, ": the domain was there within a week");
        return 0;
    }
    if (!collection->dry_run &&
        leftover_remove(collection->context->root, leftover, failure) < 0)
        return -1;
    say(collection, collection->dry_run ? "would remove" : "removed", leftover, "");
    return 0;
}

/* Takes all that is one domain's. */
static int
collect_domain(const struct collection *collection, const struct leftover *list,
               size_t count, struct failure **failure)
{
    int known = is_known(collection->connection, list[0].uuid, failure);
    time_t now = time(NULL);
    bool recent = false;

    if (known != 0)
        return known < 0 ? -1 : 0;
    for (size_t i = 0; i < count && !collection->all; i++)
        recent = recent || now - list[i].changed < KEPT_DAYS * DAY;
    for (size_t i = 0; i < count; i++) {
        if (remove_one(collection, &list[i], recent, failure) < 0)
            return -1;
    }
    return 0;
}

static int
collect(const struct collection *collection, const struct leftovers *leftovers,
        struct failure **failure)
{
    size_t end;

    for (size_t start = 0; start < leftovers->count; start = end) {
        const struct leftover *first = &leftovers->list[start];

        for (end = start + 1; end < leftovers->count; end++) {
            if (strcmp(leftovers->list[end].uuid, first->uuid) != 0)
                break;
        }
        if (collect_domain(collection, first, end - start, failure) < 0)
            return -1;
    }
    return 0;
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    __attribute__((cleanup(connection_pointer))) virConnectPtr connection = NULL;
    struct collection collection = {
        .context = context,
        .dry_run = arguments->dry_run,
        .all = arguments->all,
    };

    if (leftovers_find(context->root, &leftovers, failure) < 0)
        return STATUS_FAILURE;
    connection = libvirt_connect(context->uri, true, failure);
    if (!connection || libvirt_require_system(connection, failure) < 0)
        return STATUS_FAILURE;
    collection.connection = connection;
    return collect(&collection, &leftovers, failure) < 0 ? STATUS_FAILURE : STATUS_OK;
}

static const struct option options[] = {
    {"all", no_argument, NULL, OPTION_ALL},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_gc = {
    .name = "gc",
    .usage = "[--all] [--dry-run]",
    .summary = "remove what is left of domains that libvirt no longer has",
    .help =
        "Removes the records, generated secrets, reports and seeds of domains that\n"
        "libvirt does not know any more, defined or running. Records and secrets are\n"
        "kept for a week after the domain was last there: a transient domain may\n"
        "come back, or one that was undefined.\n"
        "\n"
        "      --all      keep nothing for a week\n"
        "      --dry-run  say what would be removed, and remove nothing\n"
        "      --help     print this and exit\n",
    .options = options,
    .operands = 0,
    .run = run,
};
