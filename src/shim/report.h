/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who writes the guest's report to its file.
 *
 * How it works: a wired domain's report goes by virtlogd, which bounds it; but libvirt does
 * not know of the shim's devices. So the shim opens the file, which the hook has made for
 * QEMU's user, and leaves a process behind that copies what comes by a pipe into the file, up
 * to a limit; what comes then is dropped. QEMU has the other end of the pipe, as it has one to
 * virtlogd: "-add-fd" and a chardev that opens "/dev/fdset/N". The process ends when QEMU does,
 * and has nothing else of QEMU's: libvirt would wait for who has its pipes.
 */
#pragma once

#include "base/failure.h"

/* libvirt counts its own sets from 0. */
#define REPORT_FDSET 1000000

/*
 * Starts the process, for the file below `root`, and blanks in it the `given` arguments, by
 * which it would be taken for QEMU.
 * Return: the end of the pipe for QEMU to inherit, or -1.
 */
int report_begin(int root, const char *uuid, char **given, struct failure **failure);
