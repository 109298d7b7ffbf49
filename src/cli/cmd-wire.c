/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <getopt.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include <libvirt/libvirt.h>

#include "base/cleanup.h"
#include "cli/changes.h"
#include "cli/cli.h"
#include "cli/libvirt.h"
#include "cli/source.h"
#include "wire/wire.h"

/* --- after a refused start -------------------------------------------------------- */

#define WAIT_MILLISECONDS 50
#define WAIT_ROUNDS 400

/*
 * The refused start may not have come to its end yet; libvirt's lock holds us up until
 * then, and after it the domain must be down. Only then its definition is read: it may
 * have been changed meanwhile.
 */
static int
load_after_refusal(struct source *source, const struct context *context,
                   const struct arguments *arguments, struct failure **failure)
{
    const struct timespec pause = {.tv_nsec = WAIT_MILLISECONDS * 1000000L};

    for (int round = 0; round < WAIT_ROUNDS; round++) {
        if (source_load(source, context, arguments, SOURCE_CHANGE, failure) < 0)
            return -1;
        if (virDomainIsActive(source->libvirt) == 0)
            return 0;
        source_clear(source);
        nanosleep(&pause, NULL);
    }
    return failure_set(failure, FAILURE_LIBVIRT, "the domain runs");
}

/* Nobody reads our standard error: the log gets what happened. */
static void
log_outcome(const struct arguments *arguments, const struct wiring *wiring,
            const struct failure *failure)
{
    openlog("virt-seed", LOG_PID, LOG_DAEMON);
    if (failure)
        syslog(LOG_ERR, "domain %s was not wired: %s", arguments->name, failure->message);
    for (size_t i = 0; !failure && i < wiring->change_count; i++)
        syslog(LOG_NOTICE, "domain %s: %s", arguments->name, wiring->changes[i]);
}

/* --- wiring ----------------------------------------------------------------------- */

static int
wire_source(const struct context *context, const struct arguments *arguments,
            struct wiring *wiring, struct failure **failure)
{
    cleanup_source struct source source = {0};

    if (arguments->after_refusal && !arguments->is_domain)
        return failure_set(failure, FAILURE_USAGE, "--after-refusal needs --domain");
    if (arguments->after_refusal
            ? load_after_refusal(&source, context, arguments, failure) < 0
            : source_load(&source, context, arguments, SOURCE_CHANGE, failure) < 0)
        return -1;
    if (changes_wire(&source, context, arguments, wiring, failure) < 0)
        return -1;
    return changes_commit(&source, context, arguments, "is wired already", wiring,
                          failure);
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    cleanup_wiring struct wiring wiring = {0};
    int result = wire_source(context, arguments, &wiring, failure);

    if (arguments->after_refusal)
        log_outcome(arguments, &wiring, *failure);
    return result < 0 ? STATUS_FAILURE : STATUS_OK;
}

static const struct option options[] = {
    {"domain", required_argument, NULL, OPTION_DOMAIN},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"in-place", no_argument, NULL, OPTION_IN_PLACE},
    {"replace", no_argument, NULL, OPTION_REPLACE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"after-refusal", no_argument, NULL, OPTION_AFTER_REFUSAL},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_wire = {
    .name = "wire",
    .usage = "[--replace] [--json] [-i | -o OUTPUT] DOMAIN|FILE|-",
    .summary = "add the cdrom and the serial that lead the guest to its seed",
    .help =
        "Adds to a domain what cloud-init in the guest needs to find its seed: a\n"
        "cdrom, whose file is made at each start, and the SMBIOS serial, or the serial\n"
        "alone, with a URL, where the seed is served over HTTP; and the channel by which\n"
        "it reports. A domain is wired once; what is wired already stays as it is. A\n"
        "FILE's result goes to standard output, a DOMAIN of libvirt's is defined anew; a\n"
        "running one sees it at its next start.\n"
        "\n"
        "  -o, --output=OUTPUT  write the XML to this file instead\n"
        "  -i, --in-place       write the XML back into FILE\n"
        "      --replace        put our seed in the place of another tool's\n"
        "      --domain=NAME    NAME is a domain, even where a file is called so\n"
        "      --json           say what was changed as JSON\n"
        "      --after-refusal  what the hook runs: wait for the refused start to end,\n"
        "                       and report to the system's log\n"
        "      --help           print this and exit\n",
    .options = options,
    .operands = 1,
    .run = run,
};
