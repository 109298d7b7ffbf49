/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the wiring share: the options, and what they say of their changes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "domain/domain.h"
#include "domain/request.h"

/* What was changed, a sentence each, in the order it was done. */
struct wiring {
    char **changes;
    size_t change_count;
    /* Without the changes the guest would not have its seed, or would write where another's
     * report belongs. */
    bool needed;
};

struct wire_options {
    bool replace; /* a foreign seed and its serial give way to ours */
    /* Where guests without a seed's disk find the metadata server (seed_url_read_address());
     * NULL where that is not known: VIRT_SEED_IMDS_ADDRESS, and what is there stays. */
    const char *imds_address;
};

/* Notes one change; for the parts of the wiring. */
void wiring_note(struct wiring *wiring, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return: all changes in one line, "cdrom 'sda' added …; …", owned by the caller (free); there
 * is one at least. */
char *wiring_describe(const struct wiring *wiring);

void wiring_clear(struct wiring *wiring);

#define cleanup_wiring __attribute__((cleanup(wiring_clear)))
