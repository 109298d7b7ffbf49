/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How `wire` and `unset` end: the changed document goes back where it came from, and
 * the user hears what was changed. */
#pragma once

#include "cli/cli.h"
#include "cli/source.h"
#include "domain/wire.h"

/* `nothing` is what is said of a domain that needed no change. */
int changes_commit(struct source *source, const struct context *context,
                   const struct arguments *arguments, const char *nothing,
                   const struct wiring *wiring, struct failure **failure);
