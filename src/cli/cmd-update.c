/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/io.h"
#include "cli/running-seed.h"

/* What a new seed means for the guest. */
static const char *const consequences[] = {
    [UPDATE_SAME_INSTANCE] =
        "The instance is the same: at the guest's next reboot, cloud-init reads the new seed, but repeats only what it does at every boot",
    [UPDATE_NEW_INSTANCE] =
        "It is another instance: when the guest is rebooted, cloud-init sets it up again",
    [UPDATE_KEPT] =
        "The guest was told to keep what it had read (cache=\"keep\"): it reads the new one when it is rebooted after 'cloud-init clean' in it",
};

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    cleanup_definition struct definition source = {0};
    const char *where = NULL;
    int outcome;

    /* There is no guest in a file. */
    if (definition_load_domain(&source, context, context->operands[0], DEFINITION_DEVICE,
                               failure) < 0)
        return -1;
    outcome = running_seed_update(context, &source, &where, failure);
    if (outcome < 0)
        return failure_prefix(failure, "domain '%s'", source.domain.name);
    if (context->quiet)
        return STATUS_OK;
    fputs("domain '", stdout);
    print_outside_string(stdout, source.domain.name);
    if (outcome == UPDATE_NOT_RUNNING)
        puts("' is not running: its next start makes the seed");
    else if (outcome == UPDATE_UP_TO_DATE)
        printf("' has that seed %s already\n", where);
    else
        printf("' %s the new seed %s. %s\n", context->dry_run ? "would have" : "has",
               where, consequences[outcome]);
    return STATUS_OK;
}

const struct command cmd_update = {
    .name = "update",
    .operands = "DOMAIN…",
    .summary = "update a running guest's seed from its definition",
    .help =
        "Makes a seed from the domain's definition and puts it in place of the one that\n"
        "the running domain was started with, in its drive or on the metadata server.\n"
        "The guest reads it when it is rebooted; with cache=\"keep\", only if\n"
        "'cloud-init clean' was run in it before.\n",
    .takes = TAKES_DRY_RUN,
    .for_each = true,
    .run = run,
};
