/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/waiting.h"

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
wait_for_all(struct waiting *waiting, const struct waiting_options *options,
             const struct context *context, const struct arguments *arguments,
             struct failure **failure)
{
    if (waiting_open(waiting, options, context, failure) < 0)
        return -1;
    for (size_t i = 0; i < arguments->operand_count; i++) {
        if (waiting_add(waiting, arguments->operands[i], failure) < 0)
            return -1;
    }
    return waiting_run(waiting, failure);
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    struct waiting_options options = {
        .style = progress_find_style(context->quiet, arguments->json),
        .seconds = arguments->timeout,
        .next = arguments->next,
        .scrub = arguments->scrub,
    };
    struct waiting waiting;
    int result, status, number;

    if (read_timeout(arguments->timeout, &options.milliseconds, failure) < 0)
        return STATUS_FAILURE;
    result = wait_for_all(&waiting, &options, context, arguments, failure);
    status = result < 0 ? STATUS_FAILURE : waiting_status(&waiting);
    number = waiting.follow.signal;
    waiting_clear(&waiting);
    /* Whoever has started us learns that it was a signal. */
    if (number != 0)
        raise(number);
    return status;
}

static const struct option options[] = {
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"next", no_argument, NULL, OPTION_NEXT},
    {"scrub", no_argument, NULL, OPTION_SCRUB},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_wait = {
    .name = "wait",
    .usage = "[--timeout=SECONDS] [--next] [--scrub] [--json] DOMAIN…",
    .summary = "wait until a guest is set up, and say whether it went well",
    .help =
        "Follows what cloud-init in the guest reports, until it has come to its end.\n"
        "Exit status: 0 done, 1 finished with errors, 3 the domain has stopped, 124 the\n"
        "time is over. Of several domains all are waited for; the exit status is the\n"
        "first of 1, 3, 124 that one of them has, or 0.\n"
        "\n"
        "      --timeout=SECONDS  wait no longer than that\n"
        "      --next             do not take the result of a boot that is complete\n"
        "                         now, but that of the next one\n"
        "      --scrub            once a guest is done, replace its seed by one without\n"
        "                         content, for the same instance\n"
        "      --json             print each event as an object of JSON, one a line\n"
        "      --help             print this and exit\n",
    .options = options,
    .operands = OPERANDS_ANY,
    .run = run,
};
