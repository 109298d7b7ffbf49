/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/change.h"
#include "cli/cli.h"

struct options {
    bool wiring_only;
    struct change_options change;
};

static int
run_one(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_definition struct definition definition = {0};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_json json_t *before = NULL, *after = NULL;
    cleanup_free char *summary = NULL;
    struct change_options change = options->change;

    if (definition_load(&definition, context, DEFINITION_CHANGE, failure) < 0)
        return -1;
    before = wiring_parts_read(&definition, true);
    wire_remove(&definition.domain, &wiring);
    if (!options->wiring_only)
        wire_remove_request(&definition.domain, &wiring);
    after = wiring_parts_read(&definition, true);
    change.summary = summary = wiring_parts_describe("unset", before, after);
    return definition_commit(&definition, context, &change,
                             "nothing of virt-seed's to remove", &wiring, failure);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;

    return change_each(context, options, &options->change, run_one, failure);
}

static const struct option_row rows[] = {
    OPTION(0, "wiring-only", NULL, wiring_only, "keep the <cloud-init> element"),
    CHANGE_ROWS,
    OPTION_END,
};

const struct command cmd_unset = {
    .name = "unset",
    .operands = "DOMAIN|FILE|-…",
    .summary = "remove the request and its wiring",
    .help =
        "Removes from a domain what virt-seed added: the cdrom, the channels for reports\n"
        "and logs, their controllers, the word in the SMBIOS serial, and <cloud-init>.\n"
        "The domain then starts as if it had never asked for a seed. The XML of a FILE\n"
        "goes to standard output; a DOMAIN's definition is changed in libvirt.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON | TAKES_DRY_RUN | TAKES_VERBOSE,
    .run = run,
};
