/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulator shim, which completes QEMU's command line and keeps the guest's report.
 */
#pragma once

#include "base/base.h"

/* --- the command that the shim becomes ------------------------------------------------ */

/*
 * A command with -uuid starts a domain: it gets the seed, or is refused. A command
 * without -uuid is left unchanged if it does not boot anything (-machine none, -version,
 * -help), as when libvirt probes QEMU, and refused otherwise.
 *
 * The seed is a cdrom on its own virtio-scsi controller; the report's port is on its own
 * virtio-serial controller.
 */
struct command {
    char **arguments; /* owned; NULL after the last; the first is the program */
    size_t count;
    struct failure *warning; /* owned; what the domain will lack, or NULL */
};

/*
 * Makes the command from the given arguments, with the host's files below `root`. If the
 * guest reports, this starts a process and leaves a descriptor open for the command
 * (report_begin).
 */
int command_make(struct command *command, int root, char **given,
                 struct failure **failure);

void command_clear(struct command *command);

#define cleanup_command __attribute__((cleanup(command_clear)))

/* --- writing the guest's report to its file ----------------------------------------- */

/*
 * How it works: a wired domain's report goes through virtlogd, which limits its size, but
 * libvirt does not know about the shim's devices. So the shim opens the file, which the
 * hook created for QEMU's user, and starts a process that copies from a pipe into the
 * file, up to a limit, and drops the rest. QEMU gets the other end of the pipe in the
 * same way as one to virtlogd: "-add-fd" and a chardev that opens "/dev/fdset/N". The
 * process exits when QEMU does. It keeps none of QEMU's other descriptors, since libvirt
 * waits until its pipes are closed.
 */

/* libvirt numbers its own sets from 0. */
#define REPORT_FDSET 1000000

/*
 * Starts the process, for the file below `root`. It blanks its own copy of the `given`
 * arguments, so that it is not mistaken for QEMU.
 * Return: the end of the pipe for QEMU to inherit, or -1.
 */
int report_begin(int root, const char *uuid, char **given, struct failure **failure);

/* --- QEMU's arguments ------------------------------------------------------------------ */

/* The part of QEMU's command line syntax that the shim needs: options and their lists of
 * keys (QEMU's qemu-options.hx, util/keyval.c). */

/* An option, as "uuid" of "-uuid VALUE" or "--uuid VALUE". */
struct option_at {
    const char *name;  /* without dashes; NULL at the end */
    const char *value; /* the next argument, possibly another option; never NULL */
};

/*
 * Iterates over the options; `index` starts at 1. The kernel's command line (-append),
 * the only value that may begin with a dash, is skipped.
 */
struct option_at arguments_next(char **arguments, size_t *index);

/* Return: how often the option occurs; `value` is that of the last, or NULL. */
size_t arguments_find(char **arguments, const char *name, const char **value);

/* The same as qemu_list_value(), of which the list may also be a JSON object of strings. */
char *list_value(const char *list, const char *key, const char *implied);

/* Return: the text, escaped for such a list, owned by the caller (free). */
char *list_escape(const char *text);
