/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a cold boot gets its seed or is refused, so that no guest ever boots
 * for the first time without what was asked for. A start that resumes a guest (the
 * filter before it left a mark) is not refused for its wiring or for what `check` would
 * find: the guest has long read its seed, and its saved state would be lost. It gets
 * the seed that its saved XML asks for, which is the same, byte for byte, as the one it
 * was saved with. What is the guest's own since its first boot, the host key that
 * was made for it, is never made anew for it: without it, it stays where it is.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/request.h"
#include "domain/seed-path.h"
#include "domain/xml.h"
#include "image/label.h"
#include "lifecycle/autowire.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/result.h"
#include "seed/seed.h"
#include "store/imds-health.h"
#include "store/report-file.h"
#include "store/resolve.h"
#include "store/rundir.h"
#include "store/seed-file.h"
#include "store/served-seed.h"
#include "wire/report.h"
#include "wire/serial.h"
#include "wire/shim.h"
#include "wire/url.h"

/* What is known of a start before check_cold_boot() wires the document. */
struct start {
    int rundir;
    bool resumes;
    bool reports;
    bool served; /* the guest knows where, by the URL */
    struct seed_url url;
};

static void
start_clear(struct start *start)
{
    seed_url_clear(&start->url);
}

#define cleanup_start __attribute__((cleanup(start_clear)))

static bool
has_own_url(const struct domain *domain)
{
    cleanup_seed_url struct seed_url url = {.address = NULL};

    return seed_url_find_own(&url, domain);
}

bool
lifecycle_has_place_for_seed(const struct domain *domain)
{
    return seed_path_find_disk(domain) || domain_is_by_shim(domain) ||
           has_own_url(domain);
}

static bool
has_seed_of_another(const struct domain *domain)
{
    cleanup_free char *own = seed_path(domain->uuid);

    for (size_t i = 0; i < domain->disk_count; i++) {
        const char *source = domain->disks[i].source;

        if (source && seed_path_is(source) && strcmp(source, own) != 0)
            return true;
    }
    return seed_url_is_of_another(domain);
}

/* The XML names a seed or a report of ours, or our namespace somewhere, but asks for
 * nothing. */
static int
without_request(const struct lifecycle *lifecycle, bool resumes, struct failure **failure)
{
    const struct domain *domain = lifecycle->domain;
    cleanup_free char *name = xshellquote(domain->name);

    if (wire_report_check(domain, failure) < 0)
        return failure_prefix(failure, "domain '%s'", domain->name);
    /* Whosever: of another's URL its guest would get what that one asked for. */
    if (resumes ||
        (!lifecycle_has_place_for_seed(domain) && !has_seed_of_another(domain)))
        return 0;
    failure_set(failure, FAILURE_UNASKED_SEED,
                "domain '%s' carries virt-seed's %s, but its <metadata> has no "
                "<cloud-init>",
                domain->name, seed_path_find_disk(domain) ? "disk" : "address");
    return failure_hint(failure,
                        "take the wiring away with 'virt-seed unset %s', or put the "
                        "request back",
                        name);
}

/* A guest that is resumed has its own seed and report, or somebody has changed what it is
 * resumed from. */
static int
check_resumed(const struct domain *domain, struct failure **failure)
{
    if (!has_seed_of_another(domain) && !wire_report_is_of_another(domain))
        return 0;
    failure_set(failure, FAILURE_UNASKED_SEED,
                "domain '%s' would be resumed with another domain's seed or report",
                domain->name);
    return failure_hint(failure,
                        "see the disks, the channels and what else has a file, and the "
                        "serial, in the XML that it was saved with: "
                        "'virsh save-image-dumpxml FILE'");
}

/* What a cold boot must have, and a resumed guest is not asked for. */
static int
check_cold_boot(struct lifecycle *lifecycle, const struct request *request,
                struct failure **failure)
{
    const struct wire_options options = {.imds_address = lifecycle->config->imds_address};
    cleanup_wiring struct wiring wiring = {0};
    bool placed = lifecycle_has_place_for_seed(lifecycle->domain);
    bool of_another = has_seed_of_another(lifecycle->domain);

    if (seed_check(request, failure) < 0)
        return -1;
    label_read_disks(lifecycle->domain);
    if (wire_domain(lifecycle->domain, request, &options, &wiring, failure) < 0)
        return -1;
    if (wiring.change_count == 0)
        return 0;
    /* Whatever the configuration says of unwired domains: no guest gets another's seed, or
     * writes where another's report belongs. */
    of_another = of_another || wiring.was_of_another;
    if (wiring.needed && (!lifecycle->config->warn_unwired || of_another))
        return autowire_refuse(lifecycle, request, placed, &wiring, failure);
    for (size_t i = 0; i < wiring.change_count; i++)
        lifecycle_log(lifecycle, "starts as it is, not wired: %s", wiring.changes[i]);
    return 0;
}

/* A guest that is resumed has long read its documents, and is not kept from going on by a
 * server that is not there. */
static int
publish_documents(const struct lifecycle *lifecycle, const struct request *request,
                  struct seed *seed, const struct start *start, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    cleanup_failure struct failure *unsaid = NULL;
    int result =
        served_seed_publish(start->rundir, lifecycle->domain, start->url.token, request,
                            seed, &unsaid, start->resumes ? &reason : failure);

    if (unsaid)
        lifecycle_log_failure(lifecycle, "not served in OpenStack's layout", unsaid);
    if (reason)
        lifecycle_log_failure(lifecycle, "resumes without its documents", reason);
    return start->resumes ? 0 : result;
}

/* A guest that keeps what it has read, cache="keep", may do without; and so does one of a running
 * snapshot, for which unwired = warn is set. */
static int
check_listening(const struct lifecycle *lifecycle, const struct request *request,
                const struct seed_url *url, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;

    if (!request->cache && !lifecycle->config->warn_unwired)
        return imds_health_check(url->address, failure);
    if (imds_health_check(url->address, &reason) < 0)
        lifecycle_log_failure(lifecycle, "starts nevertheless", reason);
    return 0;
}

/* What a release that failed has left is not this start's; but it keeps no guest from going
 * on. */
static int
withdraw_documents(const struct lifecycle *lifecycle, const struct start *start,
                   struct failure **failure)
{
    const char *uuid = lifecycle->domain->uuid;
    cleanup_failure struct failure *reason = NULL;

    if (!served_seed_is_there(start->rundir, uuid) ||
        served_seed_withdraw(start->rundir, uuid, start->resumes ? &reason : failure) ==
            0)
        return 0;
    if (reason)
        lifecycle_log_failure(lifecycle, "what was served before stays", reason);
    return start->resumes ? 0 : -1;
}

static int
publish(const struct lifecycle *lifecycle, const struct request *request,
        struct seed *seed, const struct start *start, struct failure **failure)
{
    const char *uuid = lifecycle->domain->uuid;
    bool has_disk = request_has_disk(request);

    if ((has_disk || !start->served) && withdraw_documents(lifecycle, start, failure) < 0)
        return -1;
    if (has_disk)
        return seed_file_publish(lifecycle->root, start->rundir, uuid, seed, failure);
    /* Without a URL it starts unwired, as the configuration says. */
    if (!start->served)
        return 0;
    if (!start->resumes &&
        (served_seed_check_tree(lifecycle->root, failure) < 0 ||
         check_listening(lifecycle, request, &start->url, failure) < 0))
        return -1;
    return publish_documents(lifecycle, request, seed, start, failure);
}

/* A payload is for us where our disk is there; else VDSM makes an image of it. */
static bool
asks_for_seed(const struct domain *domain)
{
    return request_find(domain) || domain_is_by_shim(domain) ||
           (payload_find(domain) && seed_path_find_disk(domain));
}

/* The file at the end of the domain's channel. virtlogd opens it, as root; where there is the
 * emulator shim, QEMU's user does. */
static int
make_report(const struct lifecycle *lifecycle, bool resumes, struct failure **failure)
{
    const char *uuid = lifecycle->domain->uuid;
    bool by_shim = domain_is_by_shim(lifecycle->domain);
    uid_t writer = geteuid();
    gid_t group;

    if (by_shim)
        rundir_seed_owner(lifecycle->root, &writer, &group);
    if (report_file_make(lifecycle->root, uuid, writer, resumes, failure) < 0)
        return -1;
    return by_shim ? report_file_link(lifecycle->root, uuid, failure) : 0;
}

/*
 * Where the host has crashed there was no release: what the guest said before is read now,
 * while it can still make this boot one of a guest that is set up, and is not left for the
 * end of a boot that has no report of its own.
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

/* What the emulator shim waits for. A resumed guest has read its serial long ago: what is
 * wrong with that is logged. */
static int
leave_note(const struct lifecycle *lifecycle, const struct request *request, int rundir,
           bool resumes, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    bool reports = wire_shim_reports(lifecycle->domain, request);
    const char *word;

    if (!domain_is_by_shim(lifecycle->domain))
        return 0;
    word = wire_shim_serial(lifecycle->domain, request, resumes ? &reason : failure);
    if (!word && !resumes)
        return -1;
    if (!word)
        lifecycle_log_failure(lifecycle, "resumes without our serial", reason);
    return rundir_leave_note(rundir, lifecycle->domain->uuid, word ? word : "", reports,
                             failure);
}

/* What is read of it has copies; documents of megabytes need not be there once more. */
static void
forget_request(const struct domain *domain)
{
    xmlNode *node = request_find(domain);

    if (node)
        xml_remove(node);
}

int
lifecycle_prepare(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_request struct request request = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);
    cleanup_start struct start start = {
        .rundir = rundir,
        .reports = wire_report_is_there(lifecycle->domain),
    };

    if (rundir < 0)
        return -1;
    start.served = seed_url_find(&start.url, lifecycle->domain);
    start.resumes = rundir_take_resume(rundir, lifecycle->domain->uuid);
    if (start.resumes && check_resumed(lifecycle->domain, failure) < 0)
        return -1;
    if (!asks_for_seed(lifecycle->domain))
        return without_request(lifecycle, start.resumes, failure);
    if (start.resumes && !lifecycle_has_place_for_seed(lifecycle->domain))
        return 0;
    if (!start.resumes)
        record_boot_before(lifecycle);
    if (request_read(&request, lifecycle->domain, failure) < 0 ||
        resolve_request(&request, lifecycle->root, lifecycle->config, lifecycle->domain,
                        start.resumes ? RESOLVE_RESUME : RESOLVE_COLD_BOOT,
                        failure) < 0 ||
        (!start.resumes && check_cold_boot(lifecycle, &request, failure) < 0))
        return failure_prefix(failure, "domain '%s'", lifecycle->domain->name);
    forget_request(lifecycle->domain);
    start.reports = start.reports || wire_shim_reports(lifecycle->domain, &request);
    if (seed_make(&seed, &request, failure) < 0 ||
        (start.reports && make_report(lifecycle, start.resumes, failure) < 0) ||
        publish(lifecycle, &request, &seed, &start, failure) < 0 ||
        leave_note(lifecycle, &request, rundir, start.resumes, failure) < 0)
        return failure_prefix(failure, "domain '%s'", lifecycle->domain->name);
    return 0;
}
