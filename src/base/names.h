/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names by which our programs, the guest and its domain know one another's files. */
#pragma once

#include "base/memory.h"

/* The report's virtio port, in the guest /dev/virtio-ports/org.virt-seed.report.0. */
#define REPORT_PORT "org.virt-seed.report.0"

/* The emulator shim is called by the name of the emulator that it becomes, after this. */
#define SHIM_PREFIX "virt-seed-"
/* What such a name begins with in a domain's <emulator>. */
#define SHIM_NAME SHIM_PREFIX "qemu-"

/* --- what virt-seed keeps of a domain: its UUID, and then ... ---------------------- */

/* In the run-time directory, until the domain is released. */
#define SEED_SUFFIX ".iso"         /* the seed */
#define SEED_OLD_SUFFIX ".iso.old" /* the one before, while a medium is replaced */
#define RESUME_SUFFIX ".resume"    /* the start that comes next resumes a guest */
#define RESUMED_SUFFIX ".resumed"  /* the guest that runs was resumed */

/* The same, the shim order: it tells the shim what to add. Its first line is the word for
 * the SMBIOS serial, or empty. */
#define SHIM_ORDER_SUFFIX ".shim"
/* Its second line, if the guest is to report. */
#define SHIM_ORDER_REPORT "report\n"

/* In VIRT_SEED_REPORTDIR, until then, too. virtlogd appends ".0", ".1" and so on to the
 * names of files that it has rotated. */
#define REPORT_SUFFIX ".report"

/* In both for the emulator shim, after it the UUID once more: second_name(). */
#define SECOND_NAME_INFIX ".libvirt-"

/* In VIRT_SEED_STATEDIR, from one start to the next; and the public key, and a directory
 * of secrets (store/host-key.h). */
#define RECORD_SUFFIX ".json"

/* What follows a name until the file is whole, and then eight digits of hex
 * (base/fs.h). */
#define TEMPORARY_SUFFIX ".new."

/*
 * The second name of the seed in the run-time directory, and of the report in its own.
 * AppArmor calls the profile of the domain's QEMU libvirt-UUID, so that a rule can let
 * each QEMU at its own files alone. Return: owned by the caller (free).
 */
static inline char *
second_name(const char *uuid)
{
    return xasprintf("%s" SECOND_NAME_INFIX "%s", uuid, uuid);
}
