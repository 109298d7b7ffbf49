/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a cold boot gets its seed or is refused, so that no guest ever boots for
 * the first time without what was asked for. A start that resumes a guest (the restore or
 * migrate operation before it left a mark) is not refused because of its wiring or the
 * content of its documents: the guest read its seed long ago, and its saved state would be
 * lost. It gets the seed that its saved XML asks for, byte for byte the same as the one
 * it was saved with unless its files or secrets have changed; without that, it would not
 * find its disk. The host key that was made at the guest's first boot is never made
 * again: if it is missing, the guest is not resumed.
 */
#include "config.h"

#include <time.h>

#include "base/memory.h"
#include "domain/xml.h"
#include "image/image.h"
#include "lifecycle/lifecycle.h"
#include "store/delivery.h"
#include "store/forbidden-paths.h"
#include "store/pipeline.h"
#include "store/record.h"
#include "store/report-file.h"
#include "store/rundir.h"

/* A start of the domain. */
struct start {
    const struct lifecycle *lifecycle;
    const struct wire_facts *facts; /* of the XML as libvirt has it */
    int rundir;
    bool resumes;
};

/* The policy: the reason, if there is one, refuses a cold boot. For a resumed guest it is
 * logged after `resumed`; if that is NULL, it refuses such a guest, too. */
static int
refuse_or_log(const struct start *start, const char *resumed, struct failure **reason,
              struct failure **failure)
{
    if (!*reason)
        return 0;
    if (start->resumes && resumed) {
        lifecycle_log_failure(start->lifecycle, resumed, *reason);
        return 0;
    }
    *failure = steal(*reason);
    return -1;
}

/* Refuses another domain's seed or report; and the domain's own seed if there is no
 * request for it. If there is one, a cold boot is wired before it is refused. */
static int
refuse_unasked(const struct start *start, struct failure **failure)
{
    const struct wire_facts *facts = start->facts;
    const struct delivery *delivery;
    cleanup_free char *name = NULL;

    /* A resumed guest has its own seed and report unless someone changed the saved
     * state. */
    if (start->resumes && (facts->seed_of_another || facts->report_of_another))
        return failure_set(
            failure, FAILURE_UNASKED_SEED,
            "would be resumed with another domain's seed or report\n"
            "check the serial, the disks, channels and other devices with files in the "
            "saved XML: virsh save-image-dumpxml FILE");
    if (start->resumes || facts->wants_seed)
        return 0;
    if (facts->report_of_another)
        return wire_report_check(start->lifecycle->domain, failure);
    /* Another domain's disk or URL counts, too: with it, this guest would read that
     * domain's seed. */
    delivery = delivery_wired(facts);
    if (!delivery && !facts->seed_of_another)
        return 0;
    name = xshellquote(start->lifecycle->domain->name);
    return failure_set(
        failure, FAILURE_UNASKED_SEED,
        "has %s %s, but no <cloud-init> in its <metadata>\n"
        "remove the wiring with 'virt-seed unset %s', or restore the request",
        delivery ? "virt-seed's" : "another domain's",
        delivery ? delivery->wiring : "seed", name);
}

/* Required of a cold boot, but not of a resumed guest. */
static int
wire_or_refuse(const struct start *start, const struct request *request,
               struct failure **failure)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    const struct wire_facts *facts = start->facts;
    const struct wire_options options = {
        .imds_address = lifecycle->config->imds_address,
        .facts = facts,
    };
    /* Whatever the configuration says about unwired domains, no guest gets another's seed
     * or writes another's report. */
    const bool may_start_unwired = lifecycle->config->warn_unwired &&
                                   !facts->seed_of_another && !facts->report_of_another;
    cleanup_wiring struct wiring wiring = {0};

    label_read_disks(lifecycle->domain);
    if (wire_domain(lifecycle->domain, request, &options, &wiring, failure) < 0)
        return -1;
    if (wiring.change_count > 0 && wiring.needed && !may_start_unwired)
        return autowire_refuse(lifecycle, request, facts, &wiring, failure);
    for (size_t i = 0; i < wiring.change_count; i++)
        lifecycle_log(lifecycle, "starting without this wiring: %s", wiring.changes[i]);
    return 0;
}

/* Removes seeds left by a failed release or an earlier datasource. The one that this
 * start writes is replaced atomically later. */
static int
withdraw_others(const struct start *start, const struct storage *own,
                struct failure **failure)
{
    const char *uuid = start->lifecycle->domain->uuid;

    for (size_t i = 0; storages[i]; i++) {
        cleanup_failure struct failure *reason = NULL;

        if (storages[i] != own && storage_inode(storages[i], start->rundir, uuid))
            storages[i]->withdraw(start->rundir, uuid, &reason);
        if (refuse_or_log(start, "an old seed could not be removed", &reason, failure) <
            0)
            return -1;
    }
    return 0;
}

/* Refuses a cold boot if the host cannot deliver its seed. */
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
    if (!delivery_can_lack_server(request, start->lifecycle->config, reason)) {
        *failure = steal(reason);
        return -1;
    }
    lifecycle_log_failure(start->lifecycle, "starting anyway", reason);
    return 0;
}

/* Leaves the boot with this seed for the record, which the guest's start changes. A resumed
 * guest does not boot. */
static int
note_boot(const struct start *start, const struct storage *storage,
          const struct seed *seed, struct failure **failure)
{
    const struct domain *domain = start->lifecycle->domain;
    cleanup_record_boot struct record_boot boot = {0};

    if (start->resumes)
        return 0;
    record_boot_add_seed(&boot, storage, seed);
    boot.time = record_time(time(NULL));
    boot.name = xstrdup(domain->name);
    boot.version = xstrdup(PACKAGE_VERSION);
    return record_write_next(start->rundir, domain->uuid, &boot, failure);
}

static int
deliver(const struct start *start, const struct request *request, struct seed *seed,
        struct failure **failure)
{
    const struct delivery *delivery = delivery_for(request, start->facts->uses_shim);
    const struct delivery_start what = {
        .root = start->lifecycle->root,
        .rundir = start->rundir,
        .resumes = start->resumes,
        .domain = start->lifecycle->domain,
        .facts = start->facts,
        .request = request,
    };
    cleanup_failure struct failure *reason = NULL;

    if (delivery->make_report(&what, failure) < 0 ||
        withdraw_others(start, delivery->storage, failure) < 0 ||
        check_delivery(start, delivery, request, failure) < 0)
        return -1;
    if (note_boot(start, delivery->storage, seed, failure) < 0)
        return -1;
    if (delivery->publish(&what, seed, &reason) < 0)
        record_forget_next(start->rundir, what.domain->uuid);
    return refuse_or_log(start, delivery->resumed_without, &reason, failure);
}

/*
 * If the host crashed, there was no release. So the guest's earlier report is read now,
 * because this boot may depend on whether the guest is set up, and because it must not be
 * taken for the report of this boot later.
 */
static void
record_earlier_result(const struct lifecycle *lifecycle)
{
    cleanup_failure struct failure *failure = NULL;
    const char *uuid = lifecycle->domain->uuid;

    if (!report_file_has_content(lifecycle->root, uuid))
        return;
    lifecycle_record_result(lifecycle);
    if (report_file_remove(lifecycle->root, uuid, &failure) < 0)
        lifecycle_log_failure(lifecycle, "could not remove the previous boot's report",
                              failure);
}

/* Return: whether the start has anything to do with seeds and reports. If not, the hook
 * only looks at its paths. */
static bool
concerns_us(const struct wire_facts *facts)
{
    return facts->wants_seed || facts->seed_of_another || facts->report_of_another ||
           delivery_wired(facts);
}

/* Without the run-time directory, `no_rundir` says why. */
static int
prepare(const struct start *start, struct failure **no_rundir, struct failure **failure)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    const struct wire_facts *facts = start->facts;
    const struct pipeline pipeline = {
        .policy = start->resumes ? PIPELINE_RESUME : PIPELINE_COLD_BOOT,
        .root = lifecycle->root,
        .config = lifecycle->config,
    };
    cleanup_failure struct failure *forbidden = NULL;
    cleanup_request struct request request = {0};
    cleanup_seed struct seed seed = {0};
    xmlNode *node;

    /* Of the XML as libvirt has it. What follows may refuse the start with a better hint,
     * and wire a clone. */
    forbidden_paths_check(lifecycle->root, lifecycle->domain, &forbidden);
    if (!concerns_us(facts))
        return refuse_or_log(start, NULL, &forbidden, failure);
    if (start->rundir < 0)
        return refuse_or_log(start, NULL, no_rundir, failure);
    if (refuse_unasked(start, failure) < 0)
        return -1;
    if (!facts->wants_seed)
        return refuse_or_log(start, NULL, &forbidden, failure);
    if (start->resumes && !wire_facts_are_wired(facts)) {
        if (!forbidden)
            lifecycle_log(lifecycle,
                          "resumed without a seed: its XML is not wired for one");
        return refuse_or_log(start, NULL, &forbidden, failure);
    }
    if (!start->resumes)
        record_earlier_result(lifecycle);
    if (pipeline_read(&pipeline, lifecycle->domain, &request, failure) < 0)
        return -1;
    if (!start->resumes && wire_or_refuse(start, &request, failure) < 0)
        return -1;
    if (refuse_or_log(start, NULL, &forbidden, failure) < 0)
        return -1;
    /* The request has its own copies; large documents need not be in memory twice. */
    node = request_find(lifecycle->domain);
    if (node)
        xml_remove(node);
    if (seed_make(&seed, &request, failure) < 0)
        return -1;
    return deliver(start, &request, &seed, failure);
}

int
lifecycle_prepare(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *no_rundir = NULL;
    cleanup_close int rundir = rundir_open(lifecycle->root, &no_rundir);
    cleanup_wire_facts struct wire_facts facts = {0};
    const struct start start = {
        .lifecycle = lifecycle,
        .facts = &facts,
        .rundir = rundir,
        .resumes = rundir >= 0 &&
                   rundir_take_resume(rundir, lifecycle->name, lifecycle->domain->uuid),
    };

    wire_facts_read(&facts, lifecycle->domain);
    if (prepare(&start, &no_rundir, failure) < 0)
        return failure_prefix(failure, "domain '%s'", lifecycle->domain->name);
    return 0;
}

int
lifecycle_start(struct lifecycle *lifecycle, struct failure **failure)
{
    const struct domain *domain = lifecycle->domain;

    if (forbidden_paths_check(lifecycle->root, domain, failure) < 0)
        return failure_prefix(failure, "domain '%s'", domain->name);
    return 0;
}

void
lifecycle_resume(const struct lifecycle *lifecycle)
{
    cleanup_failure struct failure *reason = NULL;
    cleanup_close int rundir = rundir_open(lifecycle->root, &reason);

    /* A failure here would keep the guest from resuming; without the mark, the next
     * prepare is only stricter. */
    if (rundir < 0 || rundir_mark_resume(rundir, lifecycle->name, &reason) < 0)
        lifecycle_log_failure(lifecycle, "the next start will be treated as a cold boot",
                              reason);
}
