/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makers find out. A start of a domain comes to a verdict: nothing that concerns
 * virt-seed, a refusal, or a seed; nothing of this start is published before it. The end of a guest,
 * or a command during its start, results in a changed record, and wiring in another
 * definition.
 */
#pragma once

#include "host/documents.h"
#include "host/host-key.h"
#include "host/publication.h"

enum verdict_kind {
    VERDICT_NOTHING,
    VERDICT_REFUSE,
    VERDICT_SEED,
};

struct verdict {
    enum verdict_kind kind;
    /* Warnings for the log. */
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
    /* The image's, if nothing in it is secret; else NULL. */
    char *digest;
    /* The domain's record once the guest has started; empty if that does not change it. */
    struct buffer next_record;
};

#define VERDICT_NONE ((struct verdict){.publication = PUBLICATION_NONE})

void verdict_clear(struct verdict *verdict);

#define cleanup_verdict __attribute__((cleanup(verdict_clear)))

/* --- texts ---------------------------------------------------------------------------- */

enum maker_event {
    MAKER_EVENT_NONE,       /* the guest has not finished a boot */
    MAKER_EVENT_DONE,       /* cloud-init succeeded */
    MAKER_EVENT_UNTIL_DONE, /* the same; from now on the guest gets only its identity */
    MAKER_EVENT_FAILED,     /* cloud-init reported errors */
};

/* The new text of a domain's record, or of its definition. */
struct maker_result {
    struct buffer text;
    enum maker_event event; /* of a record */
    /* What was wired in a definition, a phrase each; none if it was wired before. */
    char **changes;
    size_t change_count;
};

void maker_result_clear(struct maker_result *result);

#define cleanup_maker_result __attribute__((cleanup(maker_result_clear)))
