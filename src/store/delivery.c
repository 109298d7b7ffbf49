/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/delivery.h"

const struct delivery *
delivery_for(const struct request *request, bool uses_shim)
{
    if (request->datasource->over_http)
        return &delivery_imds;
    return uses_shim ? &delivery_shim : &delivery_drive;
}

const struct delivery *
delivery_wired(const struct wire_facts *facts)
{
    if (facts->own_url)
        return &delivery_imds;
    if (facts->uses_shim)
        return &delivery_shim;
    return facts->disk ? &delivery_drive : NULL;
}

const struct delivery *
delivery_of_running(const struct domain *running)
{
    cleanup_wire_facts struct wire_facts facts = {0};
    const struct delivery *delivery;

    wire_facts_read(&facts, running);
    delivery = delivery_wired(&facts);
    return delivery ? delivery : &delivery_drive;
}

bool
delivery_may_lack_server(const struct request *request, const struct config *config)
{
    return request->cache || config->warn_unwired;
}

enum report_writer
delivery_reporter(const struct delivery_start *start)
{
    if (!start->facts->reports)
        return REPORT_BY_NOBODY;
    return start->facts->logs ? REPORT_AND_LOG_BY_VIRTLOGD : REPORT_BY_VIRTLOGD;
}

static int
fail_ended(struct failure **failure)
{
    return failure_hint(
        failure,
        "the domain has ended in the meantime; its next start uses the seed of its "
        "definition");
}

int
delivery_replace(const struct replacement *replacement, struct failure **failure)
{
    const struct delivery_guest *guest = replacement->guest;
    const char *uuid = replacement->running->uuid;
    const struct delivery *delivery = delivery_of_running(replacement->running);
    const struct storage *storage = delivery->storage;
    const xmlNode *before = request_find(replacement->running);
    const xmlNode *request = request_find(replacement->request->domain);
    const bool is_other = before && request && !request_is_same(before, request);
    cleanup_failure struct failure *ignored = NULL;
    cleanup_failure struct failure *another = NULL;
    ino_t published = 0;
    int result;

    /* First: if libvirt refuses it, nothing has changed yet. */
    if (is_other && guest->set_request(guest->data, request, failure) < 0) {
        if (guest->has_ended(guest->data))
            return fail_ended(failure);
        return failure_hint(failure,
                            "the domain still has its old seed; nothing has changed");
    }
    result = delivery->replace(replacement, &published, failure);
    if (result < 0 && is_other)
        guest->set_request(guest->data, before, &ignored);
    if (!guest->has_ended(guest->data))
        return result;
    /* libvirt does not answer while the hook works on the domain. So the hook's removal is
     * either still to come, or came before this seed was published. A new start's seed has
     * another inode. */
    if (published != 0 && storage_inode(storage, replacement->rundir, uuid) == published)
        storage->withdraw(replacement->rundir, uuid, *failure ? &another : failure);
    if (!*failure)
        failure_set(failure, FAILURE_DOMAIN, "its seed was replaced too late");
    return fail_ended(failure);
}
