/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wires what is defined in libvirt, for the commands that do so by themselves: `start`, `watch`. */
#pragma once

#include <libvirt/libvirt.h>

#include "cli/cli.h"
#include "wire/wire.h"

enum definition_state {
    DEFINITION_ASKS_NOTHING, /* it has no <cloud-init>, nor anything else of ours */
    DEFINITION_WAS_WIRED,
    DEFINITION_WIRED_NOW,
};

/*
 * Wires the definition of the domain as `virt-seed wire` does, if it asks for a seed. If somebody
 * else changes it at the same time, it is left as it is, which is a failure. `wiring` gets what
 * was changed. Threads may do this side by side after xmlInitParser().
 * Return: an enum definition_state, or -1.
 */
int definition_wire(const struct context *context, virConnectPtr connection,
                    virDomainPtr domain, struct wiring *wiring, struct failure **failure);

/* Return: whether the domain, as it is defined, asks for a seed; not, if it cannot be read. */
bool definition_asks(virDomainPtr domain);
