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
#include "domain/request.h"
#include "domain/wire.h"
#include "image/label.h"

struct wire_arguments {
    const char *name;
    bool is_domain;
    bool after_refusal;
    struct wire_options options;
    struct changes_options output;
};

/* --- after a refused start -------------------------------------------------------- */

#define WAIT_MILLISECONDS 50
#define WAIT_ROUNDS 400

/* The refused start may not have come to its end yet; libvirt's lock holds us up until
 * then, and after it the domain must be down. Return: whether it is. */
static bool
wait_until_inactive(virDomainPtr domain)
{
    const struct timespec pause = {.tv_nsec = WAIT_MILLISECONDS * 1000000L};

    for (int round = 0; round < WAIT_ROUNDS; round++) {
        if (virDomainIsActive(domain) == 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Nobody reads our standard error: the log gets what happened. */
static int
log_outcome(const struct wire_arguments *arguments, const struct wiring *wiring,
            struct failure **failure)
{
    openlog("virt-seed", LOG_PID, LOG_DAEMON);
    if (*failure)
        syslog(LOG_ERR, "domain %s was not wired: %s", arguments->name,
               (*failure)->message);
    for (size_t i = 0; i < wiring->change_count; i++)
        syslog(LOG_NOTICE, "domain %s: %s", arguments->name, wiring->changes[i]);
    return *failure ? -1 : 0;
}

/* --- wiring ----------------------------------------------------------------------- */

static int
wire(struct source *source, const struct wire_options *options, struct wiring *wiring,
     struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (request_read(&request, &source->domain, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    /* Another host's paths mean nothing here; there the names of the disks decide. */
    if (!source->connection || !libvirt_is_remote(source->connection))
        label_read_disks(&source->domain);
    if (wire_domain(&source->domain, &request, options, wiring, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    return 0;
}

static int
wire_source(const struct context *context, const struct wire_arguments *arguments,
            struct wiring *wiring, struct failure **failure)
{
    cleanup_source struct source source = {0};

    if (source_load(&source, context, arguments->name, arguments->is_domain,
                    SOURCE_CHANGE, failure) < 0)
        return -1;
    if (arguments->after_refusal && !wait_until_inactive(source.libvirt))
        return failure_set(failure, FAILURE_LIBVIRT, "the domain runs");
    if (wire(&source, &arguments->options, wiring, failure) < 0)
        return -1;
    return changes_commit(&source, context, &arguments->output, wiring, failure);
}

static int
run(const struct context *context, const struct command *command, int argc, char **argv,
    struct failure **failure)
{
    static const struct option options[] = {
        {"domain", required_argument, NULL, OPTION_DOMAIN},
        {"output", required_argument, NULL, 'o'},
        {"in-place", no_argument, NULL, 'i'},
        {"replace", no_argument, NULL, OPTION_REPLACE},
        {"json", no_argument, NULL, OPTION_JSON},
        {"after-refusal", no_argument, NULL, OPTION_AFTER_REFUSAL},
        {"help", no_argument, NULL, OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    struct wire_arguments arguments = {.output.nothing = "is wired already"};
    cleanup_wiring struct wiring wiring = {0};
    int option, result;

    while ((option = getopt_long(argc, argv, "o:i", options, NULL)) != -1) {
        switch (option) {
        case OPTION_DOMAIN:
            arguments.name = optarg;
            arguments.is_domain = true;
            break;
        case 'o':
            arguments.output.path = optarg;
            break;
        case 'i':
            arguments.output.in_place = true;
            break;
        case OPTION_REPLACE:
            arguments.options.replace = true;
            break;
        case OPTION_JSON:
            arguments.output.json = true;
            break;
        case OPTION_AFTER_REFUSAL:
            arguments.after_refusal = true;
            break;
        case OPTION_HELP:
            return command_help(command);
        default:
            return command_unknown_option(command, argv, failure);
        }
    }
    if (optind < argc && !arguments.name)
        arguments.name = argv[optind++];
    if (!arguments.name || optind < argc ||
        (arguments.after_refusal && !arguments.is_domain))
        return command_misused(command, failure, "expected one DOMAIN or FILE");
    result = wire_source(context, &arguments, &wiring, failure);
    if (arguments.after_refusal)
        result = log_outcome(&arguments, &wiring, failure);
    return result < 0 ? STATUS_FAILURE : STATUS_OK;
}

const struct command cmd_wire = {
    .name = "wire",
    .arguments = "[--replace] [--json] [-i | -o OUTPUT] DOMAIN|FILE|-",
    .summary = "add the cdrom and the serial that lead the guest to its seed",
    .help =

        "Adds to a domain what cloud-init in the guest needs to find its seed: a\n"
        "cdrom, whose file is made at each start, and the SMBIOS serial. A domain is\n"
        "wired once; what is wired already stays as it is. A FILE's result goes to\n"
        "standard output, a DOMAIN of libvirt's is defined anew; a running one sees\n"
        "it at its next start.\n"
        "\n"
        "  -o, --output=OUTPUT  write the XML to this file instead\n"
        "  -i, --in-place       write the XML back into FILE\n"
        "      --replace        put our seed in the place of another tool's\n"
        "      --domain=NAME    NAME is a domain, even where a file is called so\n"
        "      --json           say what was changed as JSON\n"
        "      --after-refusal  what the hook runs: wait for the refused start to end,\n"
        "                       and report to the system's log\n"
        "      --help           print this and exit\n",
    .run = run,
};
