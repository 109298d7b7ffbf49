/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names by which our programs, the guest and its domain know one another's files. */
#pragma once

/* --- the report -------------------------------------------------------------------- */

/* The virtio port, in the guest /dev/virtio-ports/org.virt-seed.report.0. */
#define REPORT_PORT "org.virt-seed.report.0"

/* What VIRT_SEED_REPORTDIR has of a domain, after its UUID. virtlogd appends ".0", ".1" and
 * so on to the names of files that it has rotated. */
#define REPORT_SUFFIX ".report"

/* --- the emulator shim ------------------------------------------------------------- */

/* The shim is called by the name of the emulator that it becomes, after this. */
#define SHIM_PREFIX "virt-seed-"
/* What such a name begins with in a domain's <emulator>. */
#define SHIM_NAME SHIM_PREFIX "qemu-"

/* The shim order: the file of the run-time directory that tells the shim what to add, after
 * the domain's UUID. Its first line is the word for the SMBIOS serial, or empty. */
#define SHIM_ORDER_SUFFIX ".shim"
/* Its second line, if the guest is to report. */
#define SHIM_ORDER_REPORT "report\n"

/* The second name of a domain's file has its UUID before and after this: the seed in the
 * run-time directory, the report in its own. AppArmor calls the profile of the
 * domain's QEMU libvirt-UUID, so that a rule can let each QEMU at its own files alone. */
#define SECOND_NAME_INFIX ".libvirt-"
