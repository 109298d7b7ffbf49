/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed as an image in a disk that the emulator shim adds to QEMU's command line.
 * libvirt does not know about that disk; an order in the run-time directory tells the
 * shim about the disk, the serial and the report (shim/command.c).
 */
#include "config.h"

#include "store/delivery.h"
#include "store/report-file.h"
#include "store/rundir.h"

static bool
is_for(const struct request *request, bool uses_shim)
{
    return !request->datasource->over_http && uses_shim;
}

static bool
is_wired(const struct wire_facts *facts)
{
    return facts->uses_shim;
}

/* Return: whether the guest will have a port for its report, from the XML or from the
 * shim. */
static bool
reports(const struct delivery_start *start)
{
    return start->facts->reports ||
           (request_wants_report(start->request) && !start->facts->user_port);
}

static int
make_report(const struct delivery_start *start, struct failure **failure)
{
    if (!reports(start))
        return 0;
    return report_file_make(start->root, start->domain->uuid, REPORT_BY_SHIM,
                            start->resumes, failure);
}

static int
publish(const struct delivery_start *start, const struct seed *seed,
        struct failure **failure)
{
    const char *uuid = start->domain->uuid;
    /* A cold boot is refused earlier if the serial is wrong (wire_domain()); a resumed
     * guest has found its seed. */
    cleanup_failure struct failure *ignored = NULL;
    const char *word = wire_shim_word(start->domain, start->request, &ignored);

    if (storage_publish_image(start->root, start->rundir, uuid, seed, failure) < 0)
        return -1;
    return rundir_write_shim_order(start->rundir, uuid, word ? word : "", reports(start),
                                   failure);
}

static int
check_replace(const struct domain *running, struct failure **failure)
{
    return failure_set(
        failure, FAILURE_DOMAIN,
        "virt-seed-qemu added the drive: libvirt does not know about it and cannot "
        "change its medium\n"
        "shut it down and start it again: each start makes a new seed");
}

const struct delivery delivery_shim = {
    .storage = &storage_image,
    .wiring = "emulator",
    .is_for = is_for,
    .is_wired = is_wired,
    .make_report = make_report,
    .publish = publish,
    .check_replace = check_replace,
};
