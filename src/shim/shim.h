/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulator shim: QEMU's command line, which it completes, and the guest's report, which it
 * keeps.
 */
#pragma once

#include <stddef.h>

#include "base/failure.h"

/* --- the command that the shim becomes ------------------------------------------------ */

/*
 * A start with -uuid is a domain's: it gets the seed, or is refused. Without -uuid, what
 * boots nothing (-machine none, -version, -help), as libvirt's probing does, stays as it
 * is; everything else is refused.
 *
 * The seed is a cdrom on a virtio-scsi controller of its own; the report's port is on a
 * virtio-serial controller of its own.
 */
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

/* --- QEMU's arguments ------------------------------------------------------------------ */

/* QEMU's command line, as far as it must be understood: options and their lists of keys
 * (QEMU's qemu-options.hx, util/keyval.c). */

/* An option, as "uuid" of "-uuid VALUE" or "--uuid VALUE". */
struct option_at {
    const char *name;  /* without dashes; NULL at the end */
    const char *value; /* what follows it, perhaps another option; never NULL */
};

/*
 * Walks over the options. `index` is 1 at first. A kernel's command line (-append), the
 * one value that may begin with a dash, is passed over.
 */
struct option_at arguments_next(char **arguments, size_t *index);

/* Return: how often the option is there; `value` is that of the last, or NULL. */
size_t arguments_find(char **arguments, const char *name, const char **value);

/*
 * The value of a key in "key=value,…", where ",," is a comma, or in a JSON object with
 * texts; of several the last. `implied` is the key of a first word without "=", or NULL.
 * Return: owned by the caller (free); NULL where it is not there.
 */
char *list_value(const char *list, const char *key, const char *implied);

/* Return: the text as a value for such a list, owned by the caller (free). */
char *list_escape(const char *text);
