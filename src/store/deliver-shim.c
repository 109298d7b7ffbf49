/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed as an image, in a disk that the emulator shim adds to QEMU's command line. libvirt
 * does not know of that disk; the shim learns of it, of the serial and of the report by an order
 * in the run-time directory (shim/command.h).
 */
#include "config.h"

#include "image/iso.h"
#include "store/deliver-drive.h"
#include "store/rundir.h"
#include "wire/serial.h"

static bool
is_wired(const struct wire_facts *facts)
{
    return facts->by_shim;
}

static int
publish(const struct delivery_start *start, struct seed *seed, struct failure **left_out,
        struct failure **failure)
{
    /* A cold boot is refused earlier if the serial is wrong (wire_domain()). */
    const char *word = wire_shim_serial(start->domain, start->request, left_out);

    if (drive_publish(start, seed, left_out, failure) < 0)
        return -1;
    return rundir_leave_note(start->rundir, start->domain->uuid, word ? word : "",
                             start->reports, failure);
}

static int
check_replace(const struct domain *running, struct failure **failure)
{
    (void)running;
    return failure_set(failure, FAILURE_DOMAIN,
                       "the drive is virt-seed-qemu's: libvirt does not know of it, and "
                       "cannot change its medium\n"
                       "shut it down and start it: each start has the new seed");
}

static bool
is_in(int root, const struct domain *running)
{
    (void)root;
    (void)running;
    return false;
}

static int
replace(const struct replacement *replacement, struct failure **failure)
{
    return check_replace(replacement->running, failure);
}

const struct delivery delivery_shim = {
    .where = "in its drive",
    .incomplete = "resumes without our serial",
    .is_wired = is_wired,
    .publish = publish,
    .withdraw = rundir_remove_seed,
    .name = rundir_seed_name,
    .open = drive_open,
    .read = iso_read,
    .check_replace = check_replace,
    .is_in = is_in,
    .replace = replace,
};
