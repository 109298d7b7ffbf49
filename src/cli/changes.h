/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `set`, `wire` and `unset` share: they wire what was loaded, put the changed document back,
 * and tell the user what was changed. */
#pragma once

#include "cli/cli.h"
#include "cli/source.h"
#include "wire/wire.h"

struct changes_options {
    const char *output; /* where the XML goes instead, or NULL */
    bool in_place;
    bool json;
    bool replace; /* another tool's seed */
};

/* The rows of a command's options for it, whose member is `changes`. */
#define CHANGES_ROWS                                                                     \
    OPTION('o', "output", "OUTPUT", changes.output,                                      \
           "write the XML to this file instead"),                                        \
        OPTION('i', "in-place", NULL, changes.in_place, "write the XML back into FILE"), \
        OPTION(0, "json", NULL, changes.json, "say what was changed as JSON")

/* Wires the domain for its own request; looks at the disks' labels and the configuration if they
 * are this host's. */
int changes_wire(struct source *source, const struct context *context,
                 const struct changes_options *options, struct wiring *wiring,
                 struct failure **failure);

/* `nothing` is what is said of a domain that needed no change. */
int changes_commit(struct source *source, const struct context *context,
                   const struct changes_options *options, const char *nothing,
                   const struct wiring *wiring, struct failure **failure);
