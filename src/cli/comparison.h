/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the seed that a domain's next start makes with what its guest has read. */
#pragma once

#include "cli/cli.h"
#include "cli/definition.h"
#include "host/documents.h"
#include "host/storage.h"
#include "seed/layout.h"
#include "store/consumption.h"
#include "store/record.h"
#include "wire/wire.h"

enum document_state {
    DOCUMENT_UNCHANGED,
    DOCUMENT_CHANGED,
    DOCUMENT_NEW,
    DOCUMENT_GONE,
    DOCUMENT_UNKNOWN, /* the caller may not read what must be compared */
};

struct compared_document {
    const char *path; /* borrowed from a seed or the record */
    enum document_state state;
    bool secret;                   /* it contains, or may contain, something secret */
    const struct document *before; /* NULL if its text is not available */
    const struct document *next;   /* NULL if it is gone */
};

/* What the next start is for cloud-init in the guest. */
enum next_boot {
    NEXT_BOOT_UNRECORDED, /* the first, as far as this host knows */
    NEXT_BOOT_NEW_INSTANCE,
    NEXT_BOOT_SAME_INSTANCE,
    NEXT_BOOT_KEPT, /* the guest was told to keep what it has read (cache="keep") */
    NEXT_BOOT_UNKNOWN,
};

struct comparison {
    struct definition source;  /* with its wiring, in the end */
    struct definition running; /* empty if the domain does not run, or came from a file */
    bool is_done;     /* recorded as set up: the next start gives the identity alone */
    bool is_kept;     /* the guest reads no seed, if its disk is still the same */
    bool is_saved;    /* the next start resumes the guest, which reads no seed */
    bool is_replaced; /* what it has, or had at its end, is not what it had at the boot */
    bool is_as_replaced;                /* and the next start makes that one, too */
    struct seed current;                /* that the running domain has */
    const struct storage *storage;      /* where that is; NULL if it may not be read */
    struct seed next;                   /* the documents that the next start makes */
    const struct storage *next_storage; /* where that will be */
    struct record_boot current_boot, next_boot; /* both as they would be recorded */
    struct record record;
    /* The seed that the guest has read: in the record, or else the current one. */
    const struct record_boot *last;
    struct guest_claim claim; /* what it says of that */
    enum consumption consumption;
    const char *reason;       /* for that, or NULL */
    struct identity identity; /* of the next start */
    /* The guest's, or else that of the last start; NULL if it is not known. */
    const char *last_instance_id;
    enum next_boot boot;
    bool has_changes;        /* of the documents */
    bool secrets_are_denied; /* not all could be compared because of secrets */
    bool past_is_denied;     /* ... because of the record or the running domain's seed */
    struct failure *denied;  /* why not all could be compared, or NULL */
    struct compared_document *documents;
    size_t document_count;
    struct wiring wiring; /* what the domain lacks */
};

/*
 * Compares the seed of the next start with the record of the last one, or of its update if the
 * guest says that it has read that, or, if there is no record, with the seed of the running domain.
 */
int comparison_read(struct comparison *comparison, const struct context *context,
                    struct failure **failure);

/* The same for a copy of a definition that was changed and is not defined yet. */
int comparison_read_changed(struct comparison *comparison,
                            const struct definition *definition,
                            const struct context *context, struct failure **failure);

void comparison_clear(struct comparison *comparison);

#define cleanup_comparison __attribute__((cleanup(comparison_clear)))

/* --- cmd-pending.c: what is said of it ------------------------------------------------- */

/* Return: what --json prints, owned by the caller. */
json_t *pending_pack(const struct comparison *comparison, bool show_secrets);

/* Prints all of it. */
void pending_print(const struct comparison *comparison, bool show_secrets);

/* Prints a line for each document, and what changes in its text. */
void pending_print_documents(const struct comparison *comparison, bool show_secrets);

/* Return: whether the next start changes anything. Another seed does not change a guest
 * that keeps what it has read. */
bool pending_has_changes(const struct comparison *comparison);
