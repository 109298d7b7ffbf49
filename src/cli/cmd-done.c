/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/print.h"
#include "cli/cli.h"
#include "cli/source.h"
#include "store/record.h"

struct options {
    bool undo;
};

static int
record_done(int root, const char *uuid, bool done, struct failure **failure)
{
    cleanup_record struct record record = {0};
    cleanup_close int lock = record_lock(root);

    (void)lock;
    if (record_read(root, uuid, &record, failure) < 0)
        return -1;
    free(record.done);
    record.done = done ? record_time(time(NULL)) : NULL;
    return record_write(root, uuid, &record, failure);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_source struct source source = {0};

    if (source_load(&source, context, SOURCE_READ, failure) < 0)
        return STATUS_FAILURE;
    if (domain_require_uuid(&source.domain, failure) < 0 ||
        record_done(context->root, source.domain.uuid, !options->undo, failure) < 0) {
        failure_prefix(failure, "domain '%s'", source.domain.name);
        return STATUS_FAILURE;
    }
    if (!context->quiet) {
        fputs("domain '", stdout);
        print_outside_string(stdout, source.domain.name);
        puts(options->undo ? "': not recorded as done" : "': recorded as done");
    }
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "undo", NULL, undo, "take it back: the seed is full again"),
    OPTION_DOMAIN_ROW,
    OPTION_END,
};

const struct command cmd_done = {
    .name = "done",
    .operands = "DOMAIN|FILE|-",
    .summary = "record that a guest is set up",
    .help =
        "Records that the guest has done what its seed says. From the next start on, a\n"
        "domain with boots=\"until-done\" gets a seed with its identity alone: the same\n"
        "instance-id and host name, and nothing else.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
