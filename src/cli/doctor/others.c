/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is left of domains that no longer exist, and VDSM. */
#include "config.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "cli/doctor/doctor.h"
#include "cli/garbage.h"

#define VDSM_POINT VIRT_SEED_VDSM_HOOKDIR "/before_vm_start"
#define VDSM_HOOK VDSM_POINT "/50_virt_seed"

/* What a domain leaves that ran this week is nothing to do anything about. */
static int
count_garbage(void *data, const struct leftover *leftover, enum garbage_fate fate,
              struct failure **failure)
{
    const bool is_old = time(NULL) - leftover->changed >= GARBAGE_KEPT_SECONDS;
    size_t *count = data;

    if (fate == GARBAGE_REMOVED || (fate == GARBAGE_KEPT_SINCE_NOW && is_old))
        ++*count;
    return 0;
}

void
doctor_leftovers(struct doctor *doctor)
{
    cleanup_failure struct failure *failure = NULL;
    size_t count = 0;

    if (!doctor->connection)
        return;
    if (geteuid() != 0)
        doctor_unseen(doctor, "what is left of domains that no longer exist");
    else if (garbage_find(doctor->connection, doctor->root, false, false, count_garbage,
                          &count, &failure) < 0)
        doctor_take(doctor, DOCTOR_PROBLEM, "leftovers", &failure);
    else if (count > 0)
        doctor_add(doctor, DOCTOR_NOTE, "leftovers", "virt-seed gc",
                   "%zu %s left over from domains that no longer exist", count,
                   count == 1 ? "file is" : "files are");
    else
        doctor_add(doctor, DOCTOR_OK, "leftovers", NULL,
                   "nothing is left over from domains that no longer exist");
}

/* The property itself is defined in the engine, which cannot be seen from a host. */
void
doctor_vdsm(struct doctor *doctor)
{
    struct stat status;
    int error;

    if (fs_stat_in_root(doctor->root, VIRT_SEED_VDSM_HOOKDIR, &status) < 0)
        return;
    error = fs_stat_in_root(doctor->root, VDSM_HOOK, &status);
    if (error == -ENOENT)
        doctor_add(doctor, DOCTOR_PROBLEM, "vdsm",
                   "install VDSM's hook: package virt-seed-vdsm, or make install-vdsm",
                   "VDSM is installed, but %s is missing: its VMs are not wired",
                   VDSM_HOOK);
    else if (error < 0)
        doctor_unread(doctor, error, "vdsm", VDSM_HOOK);
    else if (!(status.st_mode & S_IXOTH))
        doctor_add(
            doctor, DOCTOR_PROBLEM, "vdsm", "chmod 0755 " VDSM_HOOK,
            "%s has mode %04o: VDSM's user cannot run it, and its VMs are not wired",
            VDSM_HOOK, status.st_mode & 07777);
    else
        doctor_add(doctor, DOCTOR_OK, "vdsm", NULL,
                   "VDSM's hook is installed; whether the engine defines the property "
                   "'cloudinit' cannot be seen from a host");
}
