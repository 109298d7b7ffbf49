/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/garbage.h"
#include "cli/libvirt.h"

struct options {
    bool all;
    bool dry_run;
};

struct collection {
    const struct context *context;
    bool dry_run;
};

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
