/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/waiting.h"

struct options {
    const char *timeout;
    bool next;
    bool scrub;
    bool json;
};

static int
read_timeout(const char *text, int *milliseconds, struct failure **failure)
{
    char *end = NULL;
    unsigned long seconds;

    *milliseconds = -1;
    if (!text)
        return 0;
    errno = 0;
    seconds = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || seconds > LIMIT_TIMEOUT) {
        failure_set(failure, FAILURE_USAGE, "--timeout='%s' is no number of seconds",
                    text);
        return failure_hint(failure, "give 0 to %d", LIMIT_TIMEOUT);
    }
    *milliseconds = (int)seconds * 1000;
    return 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    struct waiting_options how = {
        .style = progress_find_style(context->quiet, options->json),
        .seconds = options->timeout,
        .next = options->next,
        .scrub = options->scrub,
    };
    struct waiting waiting;
    int result, status, number;

    if (read_timeout(options->timeout, &how.milliseconds, failure) < 0)
        return STATUS_FAILURE;
    result = waiting_open(&waiting, &how, context, failure);
    for (size_t i = 0; result == 0 && i < context->operand_count; i++)
        result = waiting_add(&waiting, context->operands[i], failure);
    if (result == 0)
        result = waiting_run(&waiting, failure);
    status = result < 0 ? STATUS_FAILURE : waiting_status(&waiting);
    number = waiting.follow.signal;
    waiting_clear(&waiting);
    /* Whoever has started us learns that it was a signal. */
    if (number != 0)
        raise(number);
    return status;
}

static const struct option_row rows[] = {
    OPTION(0, "timeout", "SECONDS", timeout, "wait no longer than that"),
    OPTION(
        0, "next", NULL, next,
        "do not take the result of a boot that is complete now, but that of the next one"),
    OPTION(
        0, "scrub", NULL, scrub,
        "once a guest is done, replace its seed by one without content, for the same instance"),
    OPTION(0, "json", NULL, json, "print each event as an object of JSON, one a line"),
    OPTION_END,
};

const struct command cmd_wait = {
    .name = "wait",
    .operands = "DOMAIN…",
    .summary = "wait until a guest is set up, and say whether it went well",
    .help =
        "Follows what cloud-init in the guest reports, until it has come to its end.\n"
        "Exit status: 0 done, 1 finished with errors, 3 the domain has stopped, 124 the\n"
        "time is over. Of several domains all are waited for; the exit status is the\n"
        "first of 1, 3, 124 that one of them has, or 0.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
