/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the request of the running domain becomes one for the identity alone, with
 * the instance-id fixed to the one that its seed has, whatever policy it came from. The seed is
 * made of that, and so is the one that the guest gets when it has been saved and comes back.
 * The definition keeps its request: the next start makes a full seed.
 */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "cli/replace.h"
#include "cli/scrub.h"
#include "cli/source.h"
#include "domain/request-write.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "import/import.h"
#include "seed/layout.h"
#include "seed/seed.h"
#include "store/record.h"

static int
read_old(const struct context *context, const struct domain *running, struct seed *old,
         struct identity *identity, struct failure **failure)
{
    bool found = false;
    const struct layout *layout;

    if (delivery_read(context->root, running->uuid, old, &found, failure) < 0)
        return -1;
    layout = found ? layout_find(old->volume_id) : NULL;
    if (layout)
        return layout_read_identity(layout, old, identity, failure);
    return failure_set(failure, FAILURE_RUNDIR,
                       "%s has no seed of it\nput one there first: virt-seed update %s",
                       VIRT_SEED_RUNDIR, running->uuid);
}

/* A seed that `update` has put there for another instance must be read by the guest first:
 * without its content that instance would never be set up. */
static int
check_booted(const struct context *context, const struct domain *running,
             const struct identity *identity, struct failure **failure)
{
    cleanup_record struct record record = {0};
    const char *booted;

    if (record_read(context->root, running->uuid, &record, failure) < 0)
        return -1;
    booted = record.boot.instance_id;
    if (!booted || !identity->instance_id || strcmp(booted, identity->instance_id) == 0)
        return 0;
    return failure_set(failure, FAILURE_INSTANCE_ID,
                       "the seed %s is for the instance '%s', and it was started as "
                       "'%s'\n"
                       "its content stays until the domain is started anew",
                       delivery_of_running(running)->where, identity->instance_id,
                       booted);
}

/* The attributes stay: they say which datasource it is. */
static void
write_identity(struct domain *running, const struct identity *identity)
{
    xmlNode *before = request_find(running);
    xmlNode *element = request_insert(running, before);
    xmlNode *child;

    xml_remove(before);
    while ((child = element->children)) {
        xmlUnlinkNode(child);
        xmlFreeNode(child);
    }
    if (identity->hostname)
        element_add_text(element, "hostname", identity->hostname);
    child = element_add_text(element, "instance-id", identity->request_id);
    element_set(child, "policy", "fixed");
}

/* That it is the same for cloud-init is not taken on trust: a ConfigDrive's is derived. */
static int
check_identity(const struct seed *seed, const struct identity *old,
               struct failure **failure)
{
    cleanup_identity struct identity identity = {0};

    if (layout_read_identity(layout_find(seed->volume_id), seed, &identity, failure) < 0)
        return -1;
    if (strcmp(identity.instance_id, old->instance_id) == 0)
        return 0;
    return failure_set(failure, FAILURE_INSTANCE_ID,
                       "a seed without content would have the instance-id '%s', not "
                       "'%s'\n"
                       "its seed is left as it is",
                       identity.instance_id, old->instance_id);
}

static int
make_seed(struct seed *seed, struct request *request, struct source *running,
          const struct identity *old, struct failure **failure)
{
    if (!request_find(&running->domain) || !old->instance_id || !old->request_id)
        return failure_set(failure, FAILURE_REQUEST_MISSING,
                           "its seed is not one of a <cloud-init> element\n"
                           "what oVirt's engine has made stays as it is");
    write_identity(&running->domain, old);
    if (request_read(request, &running->domain, failure) < 0 ||
        seed_make(seed, request, failure) < 0)
        return -1;
    return check_identity(seed, old, failure);
}

static int
scrub_domain(const struct context *context, const struct source *source,
             struct failure **failure)
{
    cleanup_source struct source running = {0};
    cleanup_source struct source scrubbed = {0};
    cleanup_identity struct identity identity = {0};
    cleanup_request struct request request = {0};
    cleanup_seed struct seed old = {0};
    cleanup_seed struct seed seed = {0};
    const struct delivery *delivery;

    if (source_load_running(&running, source, failure) < 0)
        return -1;
    delivery = delivery_of_running(&running.domain);
    if (replace_check_caller(context, failure) < 0 ||
        delivery->check_replace(&running.domain, failure) < 0 ||
        read_old(context, &running.domain, &old, &identity, failure) < 0 ||
        check_booted(context, &running.domain, &identity, failure) < 0 ||
        source_load_running(&scrubbed, source, failure) < 0 ||
        make_seed(&seed, &request, &scrubbed, &identity, failure) < 0)
        return -1;
    if (seed_is_same(&old, &seed) && delivery->is_in(context->root, &running.domain))
        return 0;
    return replace_seed(context, source, &running, &request, &seed, failure);
}

int
scrub(const struct context *context, const char *uuid, struct failure **failure)
{
    cleanup_source struct source source = {0};

    if (source_load_domain(&source, context, uuid, SOURCE_DEVICE, failure) < 0)
        return -1;
    if (scrub_domain(context, &source, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source.domain.name);
    return 0;
}
