/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the shim's controllers go. That must be the same after a save, a restore or a
 * migration: slot 0x1c of the first PCI bus, function 0 for the seed's and function 1 for the
 * report's; on s390x the device numbers fe.0.f01c and fe.0.f01d.
 */
#pragma once

#include <stdbool.h>

#include "base/failure.h"

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
