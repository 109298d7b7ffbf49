/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How `wire` and `unset` end: the changed document goes back where it came from, and
 * the user hears what was changed. */
#pragma once

#include "cli/cli.h"
#include "cli/source.h"
#include "domain/wire.h"

struct changes_options {
    const char *path; /* of the output; NULL is standard output */
    bool in_place;
    bool json;
    const char *nothing; /* what is said of a domain that needed no change */
};

int changes_commit(struct source *source, const struct context *context,
                   const struct changes_options *options, const struct wiring *wiring,
                   struct failure **failure);
