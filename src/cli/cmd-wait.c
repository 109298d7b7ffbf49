/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/waiting.h"

struct options {
    struct waiting_options waiting;
};

static int
wait_for_all(struct waiting *waiting, const struct operands *operands,
             struct failure **failure)
{
    for (size_t i = 0; i < operands->count; i++) {
        if (!waiting_add(waiting, operands->list[i], failure))
            return -1;
    }
    for (size_t i = 0; i < waiting->count; i++)
        waiting_begin(waiting->guests[i]);
    return waiting->count > 0 ? waiting_run(waiting, failure) : 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_operands struct operands operands = {0};
    struct waiting waiting;
    int status;

    if (waiting_open(&waiting, context, &options->waiting, failure) == 0 &&
        operands_expand(&operands, context, waiting.connection, failure) == 0)
        wait_for_all(&waiting, &operands, failure);
    status = waiting_close(&waiting, *failure);
    if (operands.is_incomplete && !*failure)
        return STATUS_NO_DOMAIN;
    return status;
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
        "With several domains, it waits for all of them; the exit status is 4 if a name\n"
        "has no domain, else the first of 1, 3, 124 that one of them has, or 0.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON,
    .run = run,
};
