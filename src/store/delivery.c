/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>

#include "domain/request.h"
#include "store/delivery.h"
#include "store/report-file.h"

/* The first one that is for a domain, or wired in it, counts. */
static const struct delivery *const deliveries[] = {
    &delivery_server,
    &delivery_shim,
    &delivery_drive,
    NULL,
};

const struct delivery *
delivery_for(const struct request *request, const struct domain *domain)
{
    const struct delivery *const *delivery = deliveries;

    while (!(*delivery)->is_for(request, domain))
        delivery++;
    return *delivery;
}

const struct delivery *
delivery_wired(const struct wire_facts *facts)
{
    const struct delivery *const *delivery = deliveries;

    while (*delivery && !(*delivery)->is_wired(facts))
        delivery++;
    return *delivery;
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

/* --- a start ---------------------------------------------------------------------- */

int
delivery_make_report(const struct delivery_start *start, struct failure **failure)
{
    return start->facts->reports
               ? report_file_make(start->root, start->domain->uuid, REPORT_BY_VIRTLOGD,
                                  start->resumes, failure)
               : 0;
}

/* --- a replacement ---------------------------------------------------------------- */

static bool
has_other_request(const struct replacement *replacement)
{
    const xmlNode *before = request_find(replacement->running);
    const xmlNode *request = request_find(replacement->request->domain);

    return before && request && !request_is_same(before, request);
}

int
replace_request(const struct replacement *replacement, struct failure **failure)
{
    const struct delivery_guest *guest = replacement->guest;

    if (!has_other_request(replacement) ||
        guest->set_request(guest->data, request_find(replacement->request->domain),
                           failure) == 0)
        return 0;
    if (!replace_has_ended(replacement, failure))
        failure_hint(failure, "the domain still has its old seed; nothing has changed");
    return -1;
}

void
replace_request_back(const struct replacement *replacement)
{
    const struct delivery_guest *guest = replacement->guest;
    cleanup_failure struct failure *ignored = NULL;

    if (has_other_request(replacement))
        guest->set_request(guest->data, request_find(replacement->running), &ignored);
}

bool
replace_has_ended(const struct replacement *replacement, struct failure **failure)
{
    if (!replacement->guest->has_ended(replacement->guest->data))
        return false;
    failure_hint(
        failure,
        "the domain has ended in the meantime; its next start uses the seed of its "
        "definition");
    return true;
}

ino_t
replace_find_inode(const struct replacement *replacement, const char *name)
{
    struct stat status = {0};

    fstatat(replacement->rundir, name, &status, AT_SYMLINK_NOFOLLOW);
    return status.st_ino;
}
