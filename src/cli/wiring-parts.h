/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a definition has of virt-seed's, for the summary of a change. */
#pragma once

#include <stdbool.h>

#include "cli/definition.h"

struct wiring_parts {
    char *disk; /* "cdrom sda", or NULL */
    bool serial;
    bool report;
    bool shim;
    bool request;
};

void wiring_parts_read(struct wiring_parts *parts, const struct definition *definition);
void wiring_parts_clear(struct wiring_parts *parts);

#define cleanup_wiring_parts __attribute__((cleanup(wiring_parts_clear)))

/* Return: " (cdrom sda, serial)", those that the other does not have, or "" if there are
 * none; owned by the caller (free). */
char *wiring_parts_describe(const struct wiring_parts *parts,
                            const struct wiring_parts *without);
