/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/io.h"
#include "cli/running-seed.h"
#include "domain/request.h"
#include "seed/layout.h"
#include "store/delivery.h"
#include "store/record.h"
#include "store/seed-file.h"

/* What a new seed means for the guest. */
static const char *const consequences[] = {
    [UPDATE_SAME_INSTANCE] =
        "The instance is the same: at the guest's next reboot, cloud-init reads the new seed, but repeats only what it does at every boot",
    [UPDATE_NEW_INSTANCE] =
        "It is another instance: when the guest is rebooted, cloud-init sets it up again",
    [UPDATE_KEPT] =
        "The guest was told to keep what it had read (cache=\"keep\"): it reads the new one when it is rebooted after 'cloud-init clean' in it",
};

/* The guest looks for the seed where it was when it was started, and by its label. */
static int
check_datasource(const struct delivery *delivery, const struct delivery *next,
                 const struct seed *old, const struct seed *seed,
                 struct failure **failure)
{
    if (delivery->storage != next->storage)
        failure_set(failure, FAILURE_DOMAIN,
                    "runs with a seed %s, and the new one is one %s: the guest would not "
                    "find it",
                    delivery->storage->kind, next->storage->kind);
    else if (old->label && strcmp(old->label, seed->label) != 0)
        failure_set(
            failure, FAILURE_DOMAIN,
            "runs with a seed that has the label '%s', and the new one has '%s': the guest "
            "would not find it",
            old->label, seed->label);
    else
        return 0;
    return failure_hint(failure, "shut it down and start it again, which changes the "
                                 "datasource");
}

/* Return: what the new seed means for the guest. */
static enum update_outcome
judge(const struct context *context, const char *uuid, const struct seed *old,
      const struct seed *seed)
{
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_identity struct identity old_identity = {0};
    cleanup_identity struct identity identity = {0};
    const struct layout *layout = layout_find(seed->label);

    if (record_read(context->root, uuid, &record, &ignored) == 0 && record.cache_keep)
        return UPDATE_KEPT;
    failure_free(steal(ignored));
    if (!layout || layout_read_identity(layout, old, &old_identity, &ignored) < 0 ||
        layout_read_identity(layout, seed, &identity, &ignored) < 0)
        return UPDATE_NEW_INSTANCE;
    if (!identity_is_same(&old_identity, &identity))
        return UPDATE_NEW_INSTANCE;
    return UPDATE_SAME_INSTANCE;
}

int
running_seed_update(const struct context *context, const struct definition *source,
                    const char **where, struct failure **failure)
{
    cleanup_definition struct definition running = {0};
    cleanup_request struct request request = {0};
    cleanup_seed struct seed old = {0};
    cleanup_seed struct seed seed = {0};
    const struct delivery *delivery, *next;
    const struct storage *storage;
    cleanup_close int lock = -1;
    bool has_seed;

    if (virDomainIsActive(source->libvirt) == 0)
        return UPDATE_NOT_RUNNING;
    if (running_seed_check_caller(context, failure) < 0)
        return -1;
    /* Another update may change the running domain, too, until the lock is held. */
    if (!context->dry_run) {
        lock = running_seed_lock(context, failure);
        if (lock < 0)
            return -1;
    }
    if (definition_load_running(&running, source->libvirt, failure) < 0)
        return -1;
    delivery = delivery_of_running(&running.domain);
    *where = delivery->storage->location;
    if (delivery->check_replace(&running.domain, failure) < 0 ||
        definition_make_seed(&seed, &request, &source->domain, context, false, NULL,
                             failure) < 0 ||
        storage_read(context->root, running.domain.uuid, &storage, &old, failure) < 0)
        return -1;
    next = delivery_for(&request, domain_uses_shim(&source->domain));
    if (check_datasource(delivery, next, &old, &seed, failure) < 0)
        return -1;
    has_seed = storage && seed_is_same(&old, &seed) &&
               delivery->is_readable(context->root, &running.domain);
    if (has_seed &&
        request_is_same(request_find(&running.domain), request_find(&source->domain)))
        return UPDATE_UP_TO_DATE;
    if (!context->dry_run && running_seed_replace(context, lock, source, &running,
                                                  &request, &seed, failure) < 0)
        return -1;
    return judge(context, running.domain.uuid, &old, &seed);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    cleanup_definition struct definition source = {0};
    const char *where = NULL;
    int outcome;

    /* There is no guest in a file. */
    if (definition_load_domain(&source, context, context->operands[0], DEFINITION_DEVICE,
                               failure) < 0)
        return -1;
    outcome = running_seed_update(context, &source, &where, failure);
    if (outcome < 0)
        return failure_prefix(failure, "domain '%s'", source.domain.name);
    if (context->quiet)
        return STATUS_OK;
    fputs("domain '", stdout);
    print_outside_string(stdout, source.domain.name);
    if (outcome == UPDATE_NOT_RUNNING)
        puts("' is not running: its next start makes the seed");
    else if (outcome == UPDATE_UP_TO_DATE)
        printf("' has that seed %s already\n", where);
    else
        printf("' %s the new seed %s. %s\n", context->dry_run ? "would have" : "has",
               where, consequences[outcome]);
    return STATUS_OK;
}

const struct command cmd_update = {
    .name = "update",
    .operands = "DOMAIN…",
    .summary = "update a running guest's seed from its definition",
    .help =
        "Makes a seed from the domain's definition and puts it in place of the one that\n"
        "the running domain was started with, in its drive or on the metadata server.\n"
        "The guest reads it when it is rebooted; with cache=\"keep\", only if\n"
        "'cloud-init clean' was run in it before.\n",
    .takes = TAKES_DRY_RUN,
    .for_each = true,
    .run = run,
};
