/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that the shim becomes.
 *
 * A start with -uuid is a domain's: it gets the seed, or is refused. Without -uuid, what
 * boots nothing (-machine none, -version, -help), as libvirt's probing does, stays as it
 * is; everything else is refused.
 *
 * The seed is a cdrom on a virtio-scsi controller of its own; the report's port is on a
 * virtio-serial controller of its own (shim/place.h).
 */
#pragma once

#include <stddef.h>

#include "base/failure.h"

struct command {
    char *
        *arguments; /* all owned; NULL behind the last; the first is the program's path */
    size_t count;
    struct failure *warning; /* owned; what the domain has to do without, or NULL */
};

/*
 * Makes the command of those that were given, with the host's files below `root`. Where the
 * guest is to report, a process has been started and a descriptor is open for the command
 * (shim/report.h).
 */
int command_make(struct command *command, int root, char **given,
                 struct failure **failure);

void command_clear(struct command *command);

#define cleanup_command __attribute__((cleanup(command_clear)))
