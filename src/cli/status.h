/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `virt-seed status` knows of domains, and how it prints that. */
#pragma once

#include <jansson.h>
#include <libvirt/libvirt.h>

#include "store/consumption.h"
#include "store/guest-report.h"

enum answer {
    ANSWER_NO,
    ANSWER_YES,
    ANSWER_UNKNOWN,
};

struct domain_status {
    char *name;
    char uuid[VIR_UUID_STRING_BUFLEN];
    const char *state; /* "running", "off", … */
    bool wants_seed;
    enum answer wired;
    enum answer seed; /* whether there is one */
    char *datasource; /* that the guest was last booted with, or else would be; or NULL */
    char *instance_id;       /* the same */
    enum guest_state result; /* of cloud-init */
    enum guest_stage stage;  /* the last one that has begun, or GUEST_STAGE_NONE */
    char *since;    /* since when, by the host's clock; NULL if that is not known */
    json_t *errors; /* lists of strings */
    json_t *warnings;
    char *documents; /* of the seed that the guest was last booted with; or NULL */
    char *address;   /* where the guest can be reached; NULL if that is not known */
    enum consumption consumption; /* of the seed, as the guest claims */
    const char *reason;           /* for that, or NULL */
    struct guest_claim claim;
    struct failure *unread; /* why something is unknown; NULL if nothing is. Owned */
    bool is_unreadable;     /* for a reason that is its own */
};

struct rows {
    int root;                    /* borrowed */
    const struct config *config; /* borrowed */
    struct domain_status *list;
    size_t count;
};

/* --- output ----------------------------------------------------------------------- */

enum column {
    COLUMN_DOMAIN,
    COLUMN_UUID,
    COLUMN_STATE,
    COLUMN_WIRED,
    COLUMN_SEED,
    COLUMN_DATASOURCE,
    COLUMN_INSTANCE_ID,
    COLUMN_CLOUD_INIT,
    COLUMN_SINCE,
    COLUMN_ADDRESS,
    COLUMN_GUEST_SAYS,
    COLUMN_COUNT,
};

/* A table may have a column twice. */
struct status_table {
    enum column columns[2 * COLUMN_COUNT];
    size_t count;
};

/* Reads the columns' names, which commas divide; of NULL, the usual ones. */
int status_read_table(struct status_table *table, const char *list,
                      struct failure **failure);

/* Prints a list of objects. */
void status_print_json(const struct rows *rows);

/* Prints a line for each domain. */
void status_print_table(const struct rows *rows, const struct status_table *table);

/* Prints all that is known of the domain. */
void status_print_page(const struct domain_status *row);
