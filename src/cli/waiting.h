/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for guests to be set up, and shows what happens meanwhile (progress.h). A guest is waited
 * for until it reports cloud-init's end, its domain stops, or the time is over. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "cli/cli.h"
#include "cli/follow.h"
#include "cli/progress.h"

struct waiting_options {
    enum progress_style style;
    const char *seconds; /* no longer than that, in the user's words; or NULL */
    int milliseconds;    /* the same; -1 for as long as it takes */
    bool next;           /* a boot that is complete does not count, but the next one */
    bool scrub;          /* the seed of a guest that is done is scrubbed (scrub.h) */
};

struct waited;

struct waiting {
    struct follow follow; /* which knows a signal that has ended the waiting */
    /* waiting.c's own: */
    struct waiting_options options;
    const struct context *context;
    struct progress progress;
    struct waited **list;
    size_t count;
};

/* Prepares to wait. Whatever comes of it, waiting_clear() is to be called then; `waiting` stays
 * where it is until that, and `context`, too. */
int waiting_open(struct waiting *waiting, const struct waiting_options *options,
                 const struct context *context, struct failure **failure);

/* Adds the domain of that name or UUID; one that is named twice is waited for once. */
int waiting_add(struct waiting *waiting, const char *name, struct failure **failure);

/* Waits for all that were added. */
int waiting_run(struct waiting *waiting, struct failure **failure);

/* Return: the exit status, of what must be known of all: that one has failed, or else that one
 * has stopped, or else that the time is over; STATUS_OK where all are done. */
int waiting_status(const struct waiting *waiting);

void waiting_clear(struct waiting *waiting);
