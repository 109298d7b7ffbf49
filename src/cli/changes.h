/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `set`, `wire` and `unset` share: the wiring of what was loaded, and the end, where the
 * changed document goes back where it came from and the user hears what was changed. */
#pragma once

#include "cli/cli.h"
#include "cli/source.h"
#include "wire/wire.h"

/* Wires the domain for its own request; the disks' labels, and the configuration, are looked
 * at where they are this host's. */
int changes_wire(struct source *source, const struct context *context,
                 const struct arguments *arguments, struct wiring *wiring,
                 struct failure **failure);

/* `nothing` is what is said of a domain that needed no change. */
int changes_commit(struct source *source, const struct context *context,
                   const struct arguments *arguments, const char *nothing,
                   const struct wiring *wiring, struct failure **failure);
