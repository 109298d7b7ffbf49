/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/cli.h"
#include "cli/waiting.h"

struct options {
    struct waiting_options waiting;
};

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    struct waiting waiting;
    bool can_wait = waiting_open(&waiting, context, &options->waiting, failure) == 0;

    for (size_t i = 0; can_wait && i < context->operand_count; i++)
        can_wait = waiting_add(&waiting, context->operands[i], failure);
    for (size_t i = 0; can_wait && i < waiting.count; i++)
        waiting_begin(waiting.guests[i]);
    if (can_wait)
        waiting_run(&waiting, failure);
    return waiting_close(&waiting, *failure);
}

static const struct option_row rows[] = {
    OPTION(0, "next", NULL, waiting.next,
           "if a boot is complete already, wait for the next one"),
    WAITING_ROWS,
    SCRUB_ROW,
    OPTION_END,
};

const struct command cmd_wait = {
    .name = "wait",
    .operands = "DOMAIN…",
    .summary = "wait until a guest is set up, and report the result",
    .help =
        "Follows what cloud-init in the guest reports, until it has finished. The exit\n"
        "status is:\n"
        "    0  cloud-init is done\n"
        "    1  it finished with errors, or no report can ever come\n"
        "    3  the domain has stopped, or is not running\n"
        "    4  there is no such domain\n"
        "    5  libvirt cannot be reached, or closes the connection\n"
        "  124  the time is up\n"
        "With several domains, it waits for all of them; the exit status is the first of\n"
        "1, 3, 124 that one of them has, or 0.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON,
    .run = run,
};
