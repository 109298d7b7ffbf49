/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <getopt.h>

#include "cli/changes.h"
#include "cli/cli.h"
#include "cli/source.h"
#include "wire/wire.h"

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    cleanup_source struct source source = {0};
    cleanup_wiring struct wiring wiring = {0};

    if (source_load(&source, context, arguments, SOURCE_CHANGE, failure) < 0)
        return STATUS_FAILURE;
    wire_remove(&source.domain, &wiring);
    if (!arguments->wiring_only)
        wire_remove_request(&source.domain, &wiring);
    return changes_commit(&source, context, arguments, "has nothing of virt-seed's",
                          &wiring, failure) < 0
               ? STATUS_FAILURE
               : STATUS_OK;
}

static const struct option options[] = {
    {"domain", required_argument, NULL, OPTION_DOMAIN},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"in-place", no_argument, NULL, OPTION_IN_PLACE},
    {"wiring-only", no_argument, NULL, OPTION_WIRING_ONLY},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_unset = {
    .name = "unset",
    .usage = "[--wiring-only] [--json] [-i | -o OUTPUT] DOMAIN|FILE|-",
    .summary = "take the request and its wiring away",
    .help =
        "Takes out of a domain what virt-seed has in it: the cdrom, the report channel,\n"
        "their controllers, the word in the SMBIOS serial, and <cloud-init>. The\n"
        "domain then starts as one that never asked for a seed. A FILE's result goes\n"
        "to standard output, a DOMAIN of libvirt's is defined anew.\n"
        "\n"
        "      --wiring-only    leave the <cloud-init> element where it is\n"
        "  -o, --output=OUTPUT  write the XML to this file instead\n"
        "  -i, --in-place       write the XML back into FILE\n"
        "      --domain=NAME    NAME is a domain, even where a file is called so\n"
        "      --json           say what was changed as JSON\n"
        "      --help           print this and exit\n",
    .options = options,
    .operands = 1,
    .run = run,
};
