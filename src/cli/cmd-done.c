/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/scope.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/io.h"
#include "host/record-file.h"
#include "store/record.h"

struct options {
    bool undo;
};

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_definition struct definition definition = {0};
    cleanup_record struct record record = {0};
    cleanup_close int lock = -1;
    int result;

    if (definition_load(&definition, context, DEFINITION_READ, failure) < 0)
        return -1;
    lock = record_lock(context->root);
    result = domain_require_uuid(&definition.domain, failure);
    if (result == 0)
        result = record_read(context->root, definition.domain.uuid, &record, failure);
    if (result == 0) {
        free(record.done);
        record.done = options->undo ? NULL : record_time(time(NULL));
    }
    if (result == 0 && !context->dry_run)
        result = record_write(context->root, definition.domain.uuid, &record, failure);
    if (result < 0)
        return failure_prefix(failure, "domain '%s'", definition.domain.name);
    if (!context->quiet)
        print_outside_line(stdout, "domain '%s': %s%srecorded as done, in %s/%s.json",
                           definition.domain.name, context->dry_run ? "would be " : "",
                           options->undo ? "no longer " : "", scope()->statedir,
                           definition.domain.uuid);
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "undo", NULL, undo, "forget it: the next seed is complete again"),
    OPTION_END,
};

const struct command cmd_done = {
    .name = "done",
    .operands = "DOMAIN|FILE|-",
    .summary = "record that a guest is set up",
    .help =
        "Records on this host that the guest is set up. From the next start on, a\n"
        "domain with boots=\"until-done\" gets a seed that has only its identity: the\n"
        "same instance-id and host name, and nothing else. A FILE stands for the domain\n"
        "with its UUID.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_DRY_RUN,
    .run = run,
};
