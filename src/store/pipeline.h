/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way from a domain to its seed: its request is read; the parts of it that are in
 * files and secrets of this host are resolved; their content is checked as the guest
 * would read it. What differs between the hook and the commands is the policy. Then
 * seed_make() makes the seed.
 */
#pragma once

#include "domain/request.h"
#include "seed/seed.h"
#include "store/configuration.h"

enum pipeline_policy {
    /* The hook at a cold boot: the first failure ends it. Makes what the domain is to
     * have from now on: ssh's host key. */
    PIPELINE_COLD_BOOT,
    /* The hook for a guest that is resumed: it has long read its seed, which is not
     * checked again; and has its host key, or somebody has lost it. */
    PIPELINE_RESUME,
    /* A command that makes what the next start would: as a cold boot, and nothing is made
     * on the host. */
    PIPELINE_STRICT,
    /* A command that shows it: what the caller may not read, and what has not been made
     * yet, is masked (part_mask()); with `hides`, all that is secret. */
    PIPELINE_MASK,
    /* `check`: each failure of a part is found(), and the next part is tried. */
    PIPELINE_COLLECT,
};

struct pipeline {
    enum pipeline_policy policy;
    int root; /* the host's "/" */
    const struct config *config;

    bool hides;              /* with PIPELINE_MASK */
    struct failure **denied; /* the same: gets the first secret that may not be read */

    /* With PIPELINE_COLLECT; takes the failure. */
    void (*found)(void *data, struct failure **failure);
    void *data;
};

/*
 * Reads the request of the domain, which it borrows, and adds what the configuration
 * gives to every domain, the host's own vendor-data; leaves of a guest that is recorded
 * as set up (boots="until-done") its identity alone; and reads and checks each part.
 * seed_make() makes the seed of that.
 */
int pipeline_read(const struct pipeline *pipeline, const struct domain *domain,
                  struct request *request, struct failure **failure);

/*
 * Reads the part's bytes, if they are not in the domain's XML, and checks them; the key
 * of a secret is noted in the part, on failure the one that was looked for first. What
 * virt-seed makes at a start is read if it is there; else it is FAILURE_SECRET_MISSING.
 */
int pipeline_read_part(const struct pipeline *pipeline, const struct request *request,
                       struct part *part, struct failure **failure);
