/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/cli.h"
#include "cli/definition.h"
#include "wire/wire.h"

struct options {
    bool wiring_only;
    struct change_options change;
};

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_definition struct definition definition = {0};
    cleanup_wiring struct wiring wiring = {0};

    if (definition_load(&definition, context, DEFINITION_CHANGE, failure) < 0)
        return -1;
    wire_remove(&definition.domain, &wiring);
    if (!options->wiring_only)
        wire_remove_request(&definition.domain, &wiring);
    return definition_commit(&definition, context, &options->change,
                             "has nothing of virt-seed's", &wiring, failure);
}

static const struct option_row rows[] = {
    OPTION(0, "wiring-only", NULL, wiring_only,
           "leave the <cloud-init> element where it is"),
    CHANGE_ROWS,
    OPTION_DOMAIN_ROW,
    OPTION_END,
};

const struct command cmd_unset = {
    .name = "unset",
    .operands = "DOMAIN|FILE|-",
    .summary = "take the request and its wiring away",
    .help =
        "Takes out of a domain what virt-seed has in it: the cdrom, the report channel,\n"
        "their controllers, the word in the SMBIOS serial, and <cloud-init>. The\n"
        "domain then starts as one that never asked for a seed. A FILE's result goes\n"
        "to standard output, a DOMAIN of libvirt's is defined anew.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
