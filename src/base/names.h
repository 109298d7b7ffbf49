/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names by which our programs, the guest and its domain know one another's files. */
#pragma once

/* --- the report -------------------------------------------------------------------- */

/* The virtio port, in the guest /dev/virtio-ports/org.virt-seed.report.0. */
#define REPORT_PORT "org.virt-seed.report.0"

/* What VIRT_SEED_REPORTDIR has of a domain, after its UUID. virtlogd appends ".0", ".1"
 * and so on to the names of files that it has rotated. */
#define REPORT_SUFFIX ".report"

/* --- the emulator shim ------------------------------------------------------------- */

/* The shim is called by the name of the emulator that it becomes, after this. */
#define SHIM_PREFIX "virt-seed-"
/* What such a name begins with in a domain's <emulator>. */
#define SHIM_NAME SHIM_PREFIX "qemu-"

/* What the run-time directory has for the shim, after the domain's UUID. */
#define SHIM_SUFFIX ".shim"
/* In it, after the line of the serial: the guest is to report. */
#define SHIM_REPORT_LINE "report\n"

/* A file of the domain's once more, by a name with its UUID before and after this: the
 * seed in the run-time directory, the report in its own. AppArmor calls the profile of
 * the domain's QEMU libvirt-UUID, so that a rule can let each QEMU at its own files
 * alone. */
#define SHIM_LINK_SUFFIX ".libvirt-"
