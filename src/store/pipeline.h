/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way from a domain to its seed: read the request, read its files and secrets on this
 * host, and check the content as the guest would read it. Then seed_make() makes the
 * seed. The hook and the commands that make a seed differ only in the policy.
 */
#pragma once

#include "domain/request.h"
#include "seed/seed.h"
#include "store/configuration.h"

enum pipeline_policy {
    /* The hook at a cold boot: the first failure ends it. Makes the ssh host key that the
     * domain keeps from then on. */
    PIPELINE_COLD_BOOT,
    /* The hook for a resumed guest: it read its seed long ago, which is not checked
     * again, and its host key must exist. */
    PIPELINE_RESUME,
    /* A command that makes the next start's seed: as a cold boot, but makes nothing on
     * the host. */
    PIPELINE_STRICT,
    /* A command that shows the seed: masks parts that the caller may not read or that
     * have not been made yet (part_mask()), and with `hides` everything secret. */
    PIPELINE_MASK,
    /* `check`: passes each part's failure to found() and goes on to the next part. */
    PIPELINE_COLLECT,
};

struct pipeline {
    enum pipeline_policy policy;
    int root; /* the host's "/" */
    const struct config *config;

    bool hides; /* with PIPELINE_MASK */
    struct failure *
        *denied; /* also, not NULL: gets the first secret that may not be read */

    /* For PIPELINE_COLLECT; takes over the failure. */
    void (*found)(void *data, struct failure **failure);
    void *data;
    bool migrates; /* also: the guest runs elsewhere, so its host key must exist here */
};

/*
 * Reads the request of the domain, which it borrows; adds what the host's configuration
 * sets for domains; reduces the request to the identity if the guest is recorded as set up
 * (boots="until-done"); and reads and checks each part. seed_make() makes the seed from
 * it.
 */
int pipeline_read(const struct pipeline *pipeline, const struct domain *domain,
                  struct request *request, struct failure **failure);

/*
 * Reads the part's bytes, unless they are in the domain's XML, and checks them. Stores a
 * secret's key in the part; on failure the first key that was tried. A generated part
 * that does not exist yet is FAILURE_SECRET_MISSING.
 */
int pipeline_read_part(const struct pipeline *pipeline, const struct request *request,
                       struct part *part, struct failure **failure);
