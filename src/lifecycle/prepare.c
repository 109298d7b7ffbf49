/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a cold boot gets its seed or is refused, so that no guest ever boots
 * for the first time without what was asked for. A start that resumes a guest (the
 * filter before it left a mark) is not refused for its wiring or for what `check` would
 * find: the guest has long read its seed, and its saved state would be lost. It gets
 * the seed that its saved XML asks for, which is the same, byte for byte, as the one it
 * was saved with. What is the guest's own since its first boot, the host key that
 * was made for it, is never made again for it: if it is missing, the guest is not
 * resumed.
 */
#include "config.h"

#include "base/memory.h"
#include "domain/xml.h"
#include "image/image.h"
#include "lifecycle/lifecycle.h"
#include "store/delivery.h"
#include "store/pipeline.h"
#include "store/report-file.h"
#include "store/rundir.h"

/* A start of the domain; its facts are those of before check_wiring() wires it. */
struct start {
    const struct lifecycle *lifecycle;
    struct domain *domain;
    const struct wire_facts *facts;
    int rundir;
    bool resumes;
};

/* The one policy: what is wrong, `reason`, refuses a cold boot, and is logged as `what`
 * of a guest that is resumed. */
static int
refuse_or_log(const struct start *start, const char *what, struct failure **reason,
              struct failure **failure)
{
    if (!*reason)
        return 0;
    if (!start->resumes) {
        *failure = steal(*reason);
        return -1;
    }
    lifecycle_log_failure(start->lifecycle, what, *reason);
    return 0;
}

/* The XML names a seed or a report of ours, or our namespace somewhere, but asks for
 * nothing. */
static int
without_request(const struct start *start, struct failure **failure)
{
    const struct domain *domain = start->domain;
    cleanup_free char *name = xshellquote(domain->name);

    if (start->facts->report_of_another)
        return wire_report_check(domain, failure);
    /* Also another domain's: by its URL this guest would read that domain's seed. */
    if (start->resumes ||
        (!wire_facts_are_wired(start->facts) && !start->facts->seed_of_another))
        return 0;
    return failure_set(failure, FAILURE_UNASKED_SEED,
                       "carries virt-seed's %s, but its <metadata> has no "
                       "<cloud-init>\n"
                       "take the wiring away with 'virt-seed unset %s', or put the "
                       "request back",
                       start->facts->disk ? "disk" : "address", name);
}

/* What a cold boot must have, and a resumed guest is not asked for. */
static int
check_wiring(const struct start *start, const struct request *request,
             struct failure **failure)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    const struct wire_facts *facts = start->facts;
    const struct wire_options options = {.imds_address = lifecycle->config->imds_address};
    cleanup_wiring struct wiring wiring = {0};

    label_read_disks(start->domain);
    if (wire_domain(start->domain, request, &options, &wiring, failure) < 0)
        return -1;
    /* Whatever the configuration says of unwired domains: no guest gets another's seed,
     * or writes where another's report belongs. */
    if (wiring.change_count > 0 && wiring.needed &&
        (!lifecycle->config->warn_unwired || facts->seed_of_another ||
         facts->report_of_another))
        return autowire_refuse(lifecycle, request, facts, &wiring, failure);
    for (size_t i = 0; i < wiring.change_count; i++)
        lifecycle_log(lifecycle, "starts as it is, not wired: %s", wiring.changes[i]);
    return 0;
}

/* Removes seeds that a failed release or an earlier datasource has left. The file that
 * this start writes anyway is replaced in one step. */
static int
withdraw_others(const struct start *start, const struct storage *own,
                struct failure **failure)
{
    const char *uuid = start->domain->uuid;

    for (size_t i = 0; storages[i]; i++) {
        cleanup_failure struct failure *reason = NULL;

        if (storages[i] != own && storage_has_seed(storages[i], start->rundir, uuid))
            storages[i]->withdraw(start->rundir, uuid, &reason);
        if (refuse_or_log(start, "a seed from before stays", &reason, failure) < 0)
            return -1;
    }
    return 0;
}

/* A guest that keeps what it has read, cache="keep", may do without a server; and so does
 * one of a running snapshot, for which unwired = warn is set. */
static int
check_delivery(const struct start *start, const struct delivery *delivery,
               const struct request *request, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;

    if (start->resumes || !delivery->is_wired(start->facts))
        return 0;
    if (delivery->check_host && delivery->check_host(start->lifecycle->root, failure) < 0)
        return -1;
    if (!delivery->check_server ||
        delivery->check_server(start->facts->url.address, &reason) == 0)
        return 0;
    if (!request->cache && !start->lifecycle->config->warn_unwired) {
        *failure = steal(reason);
        return -1;
    }
    lifecycle_log_failure(start->lifecycle, "starts nevertheless", reason);
    return 0;
}

static int
deliver(const struct start *start, const struct request *request, struct seed *seed,
        struct failure **failure)
{
    const struct delivery *delivery = delivery_for(request, start->domain);
    const struct delivery_start what = {
        .root = start->lifecycle->root,
        .rundir = start->rundir,
        .resumes = start->resumes,
        .domain = start->domain,
        .facts = start->facts,
        .request = request,
    };
    cleanup_failure struct failure *left_out = NULL;
    cleanup_failure struct failure *reason = NULL;

    if (delivery->make_report(&what, failure) < 0 ||
        withdraw_others(start, delivery->storage, failure) < 0 ||
        check_delivery(start, delivery, request, failure) < 0)
        return -1;
    delivery->publish(&what, seed, &left_out, &reason);
    if (left_out)
        lifecycle_log_failure(start->lifecycle, delivery->incomplete, left_out);
    if (reason && !delivery->may_resume_without) {
        *failure = steal(reason);
        return -1;
    }
    return refuse_or_log(start, "resumes without its documents", &reason, failure);
}

/*
 * Where the host has crashed there was no release: what the guest said before is read
 * now, while it can still make this boot one of a guest that is set up, and is not left
 * for the end of a boot that has no report of its own.
 */
static void
record_boot_before(const struct lifecycle *lifecycle)
{
    cleanup_failure struct failure *failure = NULL;
    const char *uuid = lifecycle->domain->uuid;

    if (!report_file_has_content(lifecycle->root, uuid))
        return;
    result_record(lifecycle);
    if (report_file_remove(lifecycle->root, uuid, &failure) < 0)
        lifecycle_log_failure(lifecycle, "the report of the boot before is not removed",
                              failure);
}

static int
prepare(struct start *start, struct failure **failure)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    const struct wire_facts *facts = start->facts;
    const struct pipeline pipeline = {
        .policy = start->resumes ? PIPELINE_RESUME : PIPELINE_COLD_BOOT,
        .root = lifecycle->root,
        .config = lifecycle->config,
    };
    cleanup_request struct request request = {0};
    cleanup_seed struct seed seed = {0};
    xmlNode *node;

    /* A guest that is resumed has its own seed and report, or somebody has changed what
     * it is resumed from. */
    if (start->resumes && (facts->seed_of_another || facts->report_of_another))
        return failure_set(
            failure, FAILURE_UNASKED_SEED,
            "would be resumed with another domain's seed or report\n"
            "see the disks, the channels and what else has a file, and the "
            "serial, in the XML that it was saved with: 'virsh "
            "save-image-dumpxml FILE'");
    if (!facts->asks)
        return without_request(start, failure);
    if (start->resumes && !wire_facts_are_wired(facts))
        return 0;
    if (!start->resumes)
        record_boot_before(lifecycle);
    if (pipeline_read(&pipeline, start->domain, &request, failure) < 0 ||
        (!start->resumes && check_wiring(start, &request, failure) < 0))
        return -1;
    /* What is read of it has copies; documents of megabytes need not be there twice. */
    node = request_find(start->domain);
    if (node)
        xml_remove(node);
    return seed_make(&seed, &request, failure) < 0
               ? -1
               : deliver(start, &request, &seed, failure);
}

int
lifecycle_prepare(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);
    cleanup_wire_facts struct wire_facts facts = {0};
    struct start start = {
        .lifecycle = lifecycle,
        .domain = lifecycle->domain,
        .facts = &facts,
        .rundir = rundir,
    };

    if (rundir < 0)
        return -1;
    wire_facts_read(&facts, lifecycle->domain);
    start.resumes = rundir_take_resume(rundir, lifecycle->domain->uuid);
    return prepare(&start, failure) < 0
               ? failure_prefix(failure, "domain '%s'", lifecycle->domain->name)
               : 0;
}

int
lifecycle_resume(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    cleanup_close int rundir = rundir_open(lifecycle->root, &reason);

    /* A failure here would keep the guest from coming back; without the mark the
     * prepare that follows is only stricter. */
    (void)failure;
    if (rundir < 0 || rundir_mark_resume(rundir, lifecycle->domain->uuid, &reason) < 0)
        lifecycle_log_failure(lifecycle, "the start to come is taken for a cold boot",
                              reason);
    return 0;
}
