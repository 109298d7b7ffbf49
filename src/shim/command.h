/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that the shim becomes.
 *
 * A start with -uuid is a domain's: it gets the seed, or is refused. Without -uuid, what
 * boots nothing (-machine none, -version, -help), as libvirt's probing does, stays as it
 * is; everything else is refused.
 *
 * The seed is a cdrom on a virtio-scsi controller of its own; the report's port is on a
 * virtio-serial controller of its own (see below).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"

struct command {
    char **arguments; /* owned; NULL after the last; the first is the program */
    size_t count;
    struct failure *warning; /* owned; what the domain has to do without, or NULL */
};

/*
 * Makes the command of those that were given, with the host's files below `root`. Where the
 * guest is to report, a process has been started and a descriptor is open for the command
 * (report_begin).
 */
int command_make(struct command *command, int root, char **given,
                 struct failure **failure);

void command_clear(struct command *command);

#define cleanup_command __attribute__((cleanup(command_clear)))

/* --- what the hook leaves for the shim ---------------------------------------------- */

/*
 * UUID.shim: a line, the word to add to the SMBIOS serial, or nothing; and another, "report",
 * if the guest is to report. store/rundir.h writes it. The second follows from the domain's
 * XML alone, so that a guest has the same devices wherever it is restored or migrated to.
 */
struct order {
    char *serial; /* owned */
    bool report;
};

/* Reads the domain's. It must be a file of the directory's owner's, which nobody else may
 * write. */
int order_read(struct order *order, int root, const char *uuid, struct failure **failure);

void order_clear(struct order *order);

#define cleanup_order __attribute__((cleanup(order_clear)))

/* --- where its controllers go ------------------------------------------------------- */

/*
 * The same after a save, a restore or a migration: slot 0x1c of the first PCI bus, function 0 for the seed's and function 1 for the
 * report's; on s390x the device numbers fe.0.f01c and fe.0.f01d.
 */
#define PLACE_PCI_SLOT 0x1c
#define PLACE_CCW_SCSI "fe.0.f01c"
#define PLACE_CCW_SERIAL "fe.0.f01d"

struct place {
    const char *bus; /* a literal: the first PCI bus; NULL on s390x */
};

/* Fails where the machine has no place for them, or a device of the command has theirs, also
 * where it would be free without a report. */
int place_find(struct place *place, char **arguments, struct failure **failure);

/*
 * Return: the controller as a value of -device, without its id, owned by the caller (free).
 * That of scsi comes first; it is not `alone` where the other follows.
 */
char *place_scsi(const struct place *place, bool alone);
char *place_serial(const struct place *place);

/* --- who writes the guest's report to its file -------------------------------------- */

/*
 * How it works: a wired domain's report goes by virtlogd, which bounds it; but libvirt does
 * not know of the shim's devices. So the shim opens the file, which the hook has made for
 * QEMU's user, and leaves a process behind that copies what comes by a pipe into the file, up
 * to a limit; what comes then is dropped. QEMU has the other end of the pipe, as it has one to
 * virtlogd: "-add-fd" and a chardev that opens "/dev/fdset/N". The process ends when QEMU does,
 * and has nothing else of QEMU's: libvirt would wait for who has its pipes.
 */

/* libvirt counts its own sets from 0. */
#define REPORT_FDSET 1000000

/*
 * Starts the process, for the file below `root`, and blanks in it the `given` arguments, by
 * which it would be taken for QEMU.
 * Return: the end of the pipe for QEMU to inherit, or -1.
 */
int report_begin(int root, const char *uuid, char **given, struct failure **failure);
