/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that the shim becomes.
 *
 * A start with -uuid is a domain's: it gets the seed, or is refused. Without -uuid, what
 * boots nothing (-machine none, -version, -help), as libvirt's probing does, stays as it
 * is; everything else is refused.
 *
 * The seed is a cdrom on a virtio-scsi controller of its own. Where that is must be the same
 * after a save, a restore or a migration: slot 0x1c of the first PCI bus, on s390x the
 * device number fe.0.f01c.
 */
#pragma once

#include <stddef.h>

#include "base/failure.h"

#define COMMAND_PCI_SLOT 0x1c
#define COMMAND_CCW_DEVICE "fe.0.f01c"

struct command {
    char *
        *arguments; /* all owned; NULL behind the last; the first is the program's path */
    size_t count;
};

/* Makes the command of those that were given, with the host's files below `root`. */
int command_make(struct command *command, int root, char **given,
                 struct failure **failure);

void command_clear(struct command *command);

#define cleanup_command __attribute__((cleanup(command_clear)))
