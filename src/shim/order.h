/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UUID.shim, what the hook leaves for the shim: a line, the word to add to the SMBIOS serial,
 * or nothing; and another, "report", where the guest is to report. store/rundir.h writes it.
 * The second follows from the domain's XML alone, so that a guest has the same devices
 * wherever it is restored or migrated to.
 */
#pragma once

#include <stdbool.h>

#include "base/failure.h"

struct order {
    char *serial; /* owned */
    bool report;
};

/* Reads the domain's. It must be a file of the directory's owner's, which nobody else may
 * write. */
int order_read(struct order *order, int root, const char *uuid, struct failure **failure);

void order_clear(struct order *order);

#define cleanup_order __attribute__((cleanup(order_clear)))
