/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a start of a domain comes to: nothing that concerns virt-seed, a refusal, or a seed.
 * Nothing on the host changes before the verdict.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "store/host-key.h"
#include "store/publication.h"

enum verdict_kind {
    VERDICT_NOTHING,
    VERDICT_REFUSE,
    VERDICT_SEED,
};

struct verdict {
    enum verdict_kind kind;
    /* Warnings for the log, whatever the kind, unless the start is refused. */
    char **notes;
    size_t note_count;

    /* VERDICT_REFUSE. If wiring the domain's definition helps, there is another hint, for
     * when that has begun. */
    struct failure *refusal;
    char *hint_if_wired;

    /* VERDICT_SEED */
    struct publication publication;
    struct seed seed; /* of which it borrows what is served */
    struct host_key key;
    /* The address at which the metadata server must answer, NULL if it need not; and whether
     * the guest may start if it does not. */
    char *server;
    bool may_lack_server;
    /* The image's, if nothing in it is secret; else NULL. */
    char *digest;
    /* The domain's record once the guest has started; empty if that does not change it. */
    struct buffer next_record;
};

#define VERDICT_NONE ((struct verdict){.publication = PUBLICATION_NONE})

void verdict_note(struct verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void verdict_clear(struct verdict *verdict);

#define cleanup_verdict __attribute__((cleanup(verdict_clear)))
