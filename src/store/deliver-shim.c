/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed as an image in a disk that the emulator shim adds to QEMU's command line.
 * libvirt does not know about that disk; an order in the run-time directory tells the
 * shim about the disk, the serial and the report (shim/command.c).
 */
#include "config.h"

#include "host/storage.h"
#include "store/delivery.h"
#include "store/seed-file.h"

static enum report_writer
reporter(const struct delivery_start *start)
{
    /* From the shim, if not from the XML. */
    const bool gets_port =
        request_wants_report(start->request) && !start->facts->user_port;

    return start->facts->reports || gets_port ? REPORT_BY_SHIM : REPORT_BY_NOBODY;
}

static int
make(const struct delivery_start *start, const struct seed *seed,
     struct publication *publication, struct failure **failure)
{
    /* A cold boot is refused earlier if the serial is wrong (wire_domain()); a resumed
     * guest has found its seed. */
    cleanup_failure struct failure *ignored = NULL;
    const char *word = wire_shim_word(start->domain, start->request, &ignored);

    publication->shim = word && *word ? SHIM_ORDER_NOCLOUD : SHIM_ORDER_NOTHING;
    publication->has_image = true;
    return image_make(publication->output, seed, failure);
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
    .reporter = reporter,
    .make = make,
    .check_replace = check_replace,
};
