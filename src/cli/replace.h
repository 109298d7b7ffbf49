/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed of a domain that runs, replaced where the domain has it: in its drive (medium.c),
 * or in the metadata server's tree (served.c).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "cli/source.h"
#include "domain/request.h"
#include "seed/seed.h"

/* What is being replaced; all of it is borrowed. */
struct replacement {
    const struct context *context;
    virDomainPtr domain;
    const struct domain *running;  /* the domain as it runs */
    const struct request *request; /* that the seed was made of */
    struct seed *seed;
    int rundir; /* locked: two at once wait for each other */
};

/* Where a running domain has its seed. */
struct seed_place {
    const char *where; /* in words: "in its drive" */
    bool served;       /* what a seed for it must be (struct seed) */

    /* Fails where the seed cannot be replaced. */
    int (*check)(const struct domain *running, struct failure **failure);
    /* Return: whether the guest can read what lies in the run-time directory, and no
     * replacement was cut off. */
    bool (*is_in)(const struct context *context, const struct domain *running);
    /* As replace_seed(). */
    int (*replace)(const struct replacement *replacement, struct failure **failure);
};

extern const struct seed_place medium_place;
extern const struct seed_place served_place;

/* Return: the place of the domain whose XML as it runs this is; the drive where it has none,
 * which is for its check() to say. */
const struct seed_place *seed_place_find(const struct domain *running);

/* Fails without the right to replace a seed. */
int replace_check_caller(const struct context *context, struct failure **failure);

/*
 * Puts the seed in the place of what the domain, whose XML as it runs is `running`, has, and
 * writes the request, of which it was made, into that XML: when the guest is saved and comes
 * back, its seed is made anew of what stands there. The definition stays as it is.
 *
 * On failure the domain has its old seed, or the message says what it has.
 */
int replace_seed(const struct context *context, const struct source *source,
                 const struct source *running, const struct request *request,
                 struct seed *seed, struct failure **failure);

/* --- for the places --------------------------------------------------------------- */

/* Writes the request into the XML as it runs; that goes first, since where libvirt does not
 * take it nothing has changed yet. */
int replace_request(const struct replacement *replacement, struct failure **failure);

/* Writes the old one again. */
void replace_request_back(const struct replacement *replacement);

/* Return: the inode of the name in the run-time directory, by which one sees whether it is still
 * what was published; 0 where there is none. */
ino_t replace_find_inode(const struct replacement *replacement, const char *name);

/* Of a failure that is set, says so where the domain has ended meanwhile. Return: whether that
 * is all there is to say. */
bool replace_has_ended(const struct replacement *replacement, struct failure **failure);
