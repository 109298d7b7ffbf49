/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `virt-seed status` knows of domains, and how it prints that. */
#pragma once

#include <jansson.h>

#include "store/consumption.h"
#include "store/guest-report.h"

struct domain_status {
    json_t *json; /* what --json prints of it; its texts are shown by the others, too */
    bool wants_seed;
    char *documents; /* of the seed that the guest was last booted with; or NULL */
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

/* Columns by their indexes; one may be there twice. */
struct status_table {
    size_t columns[22];
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
