/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File and port names that virt-seed's programs, the guest and its domain share. */
#pragma once

#include "base/scope.h"

/* The report's virtio port, in the guest /dev/virtio-ports/org.virt-seed.report.0. */
#define REPORT_PORT "org.virt-seed.report.0"

/* The port of what it sends when cloud-init has failed: the end of its logs. */
#define LOG_PORT "org.virt-seed.log.0"

/* The emulator shim's name is this and the name of the emulator that it becomes. */
#define SHIM_PREFIX "virt-seed-"
/* How such a name begins in a domain's <emulator>. */
#define SHIM_NAME SHIM_PREFIX "qemu-"

/* --- what virt-seed keeps of a domain: its UUID, and then ... ---------------------- */

/* In the run-time directory, until the domain is released. */
#define SEED_SUFFIX ".iso"           /* the seed */
#define SEED_MADE_SUFFIX ".iso.made" /* the same, until the guest has started */
#define SEED_OLD_SUFFIX ".iso.old"   /* the previous one, while a medium is replaced */
#define RESUMED_SUFFIX ".resumed"    /* the running guest was resumed */

/* Also there: the shim order, which tells the shim what to add. Its first line is the
 * word for the SMBIOS serial, or empty. */
#define SHIM_ORDER_SUFFIX ".shim"
/* Its second line, if the guest should report. */
#define SHIM_ORDER_REPORT "report\n"

/* There, too, before the name of a domain whose next start resumes a guest; that start
 * removes it. */
#define RESUME_PREFIX "resume:"

/* In the reports' directory, also until the domain is released. virtlogd appends ".0", ".1"
 * and so on to the names of files that it has rotated. */
#define REPORT_SUFFIX ".report"
/* The guest's log; of a guest that has ended, in the state directory. */
#define LOG_SUFFIX ".log"

/* In both directories, for the emulator shim; the UUID follows again: second_name(). */
#define SECOND_NAME_INFIX ".libvirt-"

/* In the state directory, from one start to the next, next to the public key and a
 * directory of secrets (host/host-key.h). */
#define RECORD_SUFFIX ".json"
/* And, until the guest has started, the record of that start. */
#define NEXT_RECORD_SUFFIX ".next"
/* The host key's files, there and in the guest's /etc/ssh. */
#define HOST_KEY_NAME "ssh_host_ed25519_key"
#define HOST_KEY_PUBLIC_NAME HOST_KEY_NAME ".pub"
/* Attributes of the request, and the files with the hashes. */
#define PASSWORD_NAME "password"
#define ROOT_PASSWORD_NAME "root-password"
/* Also there: an empty file, whose time says when gc first missed the domain. */
#define GONE_SUFFIX ".gone"

/* In the directory of a rehearsal, scope()->trydir/UUID: its owner's alone, and locked while
 * libvirt starts it. Only then may the domain of that UUID name the directory's files. */
#define REHEARSAL_LOCK "starting"

/* Follows a name until the file is complete; eight hexadecimal digits come after it
 * (base/fs.h). */
#define TEMPORARY_SUFFIX ".new."

/* Return: the path that a domain's XML has for its seed, and for its report and its log, by
 * their suffix; owned by the caller (free). */
static inline char *
seed_path(const char *uuid)
{
    return xasprintf("%s/%s" SEED_SUFFIX, scope()->rundir, uuid);
}

static inline char *
report_path(const char *uuid, const char *suffix)
{
    return xasprintf("%s/%s%s", scope()->reportdir, uuid, suffix);
}

/*
 * The second name of the seed in the run-time directory, and of the report in its own.
 * AppArmor calls the profile of the domain's QEMU libvirt-UUID, so a rule can give each
 * QEMU access to only its own files. Return: owned by the caller (free).
 */
static inline char *
second_name(const char *uuid)
{
    return xasprintf("%s" SECOND_NAME_INFIX "%s", uuid, uuid);
}
