/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/print.h"
#include "cli/cli.h"
#include "cli/libvirt.h"
#include "cli/medium.h"
#include "cli/seeding.h"
#include "cli/source.h"
#include "domain/request-text.h"
#include "domain/request.h"
#include "seed/layout.h"
#include "store/running-seed.h"

/* What is said of the domain in the end. */
#define NOT_RUNNING "does not run: its next start makes the seed"
#define UP_TO_DATE "has that seed in its drive already"
#define SAME_INSTANCE                                                                      \
    "has the new seed in its drive. It is the same instance: when the guest is rebooted, " \
    "cloud-init reads it, and does again what it does at every boot"
#define NEW_INSTANCE                                                                      \
    "has the new seed in its drive. It is another instance: when the guest is rebooted, " \
    "cloud-init sets it up anew"

/* The guest looks for the seed by its label. */
static int
check_label(const struct seed *old, const struct seed *seed, struct failure **failure)
{
    if (strcmp(old->volume_id, seed->volume_id) == 0 && !seed->served)
        return 0;
    if (seed->served)
        failure_set(failure, FAILURE_DOMAIN,
                    "runs with a seed on a disk, and the new one is served: the guest "
                    "would not find it");
    else
        failure_set(
            failure, FAILURE_DOMAIN,
            "runs with a seed of the label '%s', and the new one has '%s': the guest "
            "would not find it",
            old->volume_id, seed->volume_id);
    return failure_hint(failure, "shut it down and start it: a start changes the "
                                 "datasource");
}

static bool
is_same_instance(const struct seed *old, const struct seed *seed)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_identity struct identity old_identity = {0};
    cleanup_identity struct identity identity = {0};
    const struct layout *layout = layout_find(seed->volume_id);

    return layout && layout_read_identity(layout, old, &old_identity, &ignored) == 0 &&
           layout_read_identity(layout, seed, &identity, &ignored) == 0 &&
           identity_is_same(&old_identity, &identity);
}

/* Return: what is to be said, or NULL. */
static const char *
replace(const struct context *context, const struct source *source,
        const struct source *running, const struct seed *seed, struct failure **failure)
{
    const xmlNode *request = request_find(&source->domain);
    cleanup_seed struct seed old = {0};
    bool found = false;

    if (running_seed_read(context->root, running->domain.uuid, &old, &found, failure) <
            0 ||
        (found && check_label(&old, seed, failure) < 0))
        return NULL;
    if (found && seed_is_same(&old, seed) && medium_is_in(context, &running->domain) &&
        request_is_same(request_find(&running->domain), request))
        return UP_TO_DATE;
    if (medium_replace(context, source, running, request, seed, failure) < 0)
        return NULL;
    return found && is_same_instance(&old, seed) ? SAME_INSTANCE : NEW_INSTANCE;
}

static const char *
update(const struct context *context, const struct arguments *arguments,
       const struct source *source, struct failure **failure)
{
    cleanup_source struct source running = {0};
    cleanup_seed struct seed seed = {0};

    if (virDomainIsActive(source->libvirt) == 0)
        return NOT_RUNNING;
    if (source_load_running(&running, source, failure) < 0 ||
        medium_check_caller(context, failure) < 0 ||
        medium_check(&running.domain, failure) < 0 ||
        seeding_make_of(&seed, &source->domain, context, arguments, NULL, failure) < 0)
        return NULL;
    return replace(context, source, &running, &seed, failure);
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    cleanup_source struct source source = {0};
    struct arguments own = *arguments;
    const char *outcome;

    /* There is no drive in a file. */
    own.is_domain = true;
    if (source_load(&source, context, &own, SOURCE_DEVICE, failure) < 0)
        return STATUS_FAILURE;
    outcome = update(context, &own, &source, failure);
    if (!outcome) {
        failure_prefix(failure, "domain '%s'", source.domain.name);
        return STATUS_FAILURE;
    }
    if (!context->quiet) {
        fputs("domain '", stdout);
        print_outside_string(stdout, source.domain.name);
        printf("' %s\n", outcome);
    }
    return STATUS_OK;
}

static const struct option options[] = {
    {"domain", required_argument, NULL, OPTION_DOMAIN},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_update = {
    .name = "update",
    .usage = "DOMAIN",
    .summary = "give a running guest the seed of its definition",
    .help =
        "Makes the seed of the domain's definition and puts it into the drive of the\n"
        "domain that runs, in the place of the one it was started with. The guest\n"
        "reads it when it is rebooted, or when 'cloud-init clean' has been run in it.\n"
        "\n"
        "      --domain=NAME  the domain, whose name may begin with a dash then\n"
        "      --help         print this and exit\n",
    .options = options,
    .operands = 1,
    .run = run,
};
