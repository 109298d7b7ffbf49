/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that the shim becomes.
 *
 * A start with -uuid is a domain's: it gets the seed, or is refused. Without -uuid, what
 * boots nothing (-machine none, -version, -help), as libvirt's probing does, stays as it
 * is; everything else is refused.
 *
 * The seed is a cdrom on a virtio-scsi controller of its own; the report's port is on a
 * virtio-serial controller of its own.
 */
#pragma once

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
