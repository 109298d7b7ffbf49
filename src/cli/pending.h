/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a domain's next start changes for its guest. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"
#include "cli/secret-documents.h"
#include "cli/source.h"
#include "domain/wire.h"
#include "seed/layout.h"
#include "seed/seed.h"
#include "store/record.h"

enum pending_state {
    PENDING_UNCHANGED,
    PENDING_CHANGED,
    PENDING_NEW,
    PENDING_GONE,
    PENDING_UNKNOWN, /* the caller may not read what it takes to know */
};

struct pending_document {
    const char *path; /* borrowed from a seed or the record */
    enum pending_state state;
    bool secret;                   /* it has, or may have, something of a secret in it */
    const struct document *before; /* NULL where it is not there to be compared */
    const struct document *next;   /* NULL where it is gone */
};

/* What the next start is for cloud-init in the guest. */
enum pending_boot {
    PENDING_BOOT_UNRECORDED, /* the first, as far as this host knows */
    PENDING_BOOT_NEW_INSTANCE,
    PENDING_BOOT_SAME_INSTANCE,
    PENDING_BOOT_KEPT, /* the guest was told to keep what it has read (cache="keep") */
    PENDING_BOOT_UNKNOWN,
};

struct pending {
    struct source source;
    struct source running; /* empty where the domain does not run, or came from a file */
    bool is_done;        /* recorded as set up: the next start gives the identity alone */
    bool is_kept;        /* the guest reads no seed, where its disk is still the same */
    bool is_saved;       /* the next start resumes the guest, which reads no seed */
    struct seed next;    /* the documents that the next start makes */
    struct seed current; /* those that the running domain has, where they may be read */
    bool has_current;
    bool is_replaced; /* what it has is not what it had at the boot */
    struct record record;
    enum pending_boot boot;
    struct identity identity; /* of the next start */
    char *last_instance_id;   /* of the last one; NULL where it is not known */
    struct pending_document *documents;
    size_t document_count;
    bool has_changes;        /* of the documents */
    struct wiring wiring;    /* what the domain lacks */
    struct failure *denied;  /* why not all could be compared, or NULL */
    bool secrets_are_denied; /* because of secrets */
    bool past_is_denied;     /* because of the record or the running domain's seed */
};

/*
 * Compares what the next start gives with what is recorded of the last one, or, where
 * nothing is, with what the running domain has.
 */
int pending_read(struct pending *pending, const struct context *context,
                 const struct arguments *arguments, struct failure **failure);

/* Return: the state's word, which `--json` prints, too. */
const char *pending_state_name(enum pending_state state);

void pending_clear(struct pending *pending);

#define cleanup_pending __attribute__((cleanup(pending_clear)))
