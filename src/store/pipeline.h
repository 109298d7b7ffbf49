/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way from a domain to its seed: read the request, ask the host once for its files and
 * secrets, and check the content as the guest would read it. Then seed_make() makes the
 * seed. The hook and the commands that make a seed differ only in the policy, and in who
 * answers.
 */
#pragma once

#include "domain/request.h"
#include "host/host-key.h"
#include "host/need.h"
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
    const struct config *config;
    struct host_key *key; /* gets what has to be published; NULL if nothing is */

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
 * (boots="until-done"); and lists what its parts need, to which the caller may add.
 */
int pipeline_begin(const struct pipeline *pipeline, const struct host *host,
                   const struct domain *domain, struct request *request,
                   struct needs *needs, struct failure **failure);

/*
 * Moves the answers into the parts, and checks each. A secret's key is stored in its part;
 * on failure the first key that was tried. A generated part that does not exist yet is
 * FAILURE_SECRET_MISSING. seed_make() makes the seed from the request.
 */
int pipeline_finish(const struct pipeline *pipeline, struct request *request,
                    struct needs *needs, struct failure **failure);

struct answerer; /* host/answer.h */

/* Return: the host as this process finds it. The answerer must outlive it. */
struct host answerer_host(struct answerer *answerer);

/* Both for a command, which asks the host whose "/" is the directory `root` itself. */
int pipeline_read(const struct pipeline *pipeline, int root, const struct domain *domain,
                  struct request *request, struct failure **failure);

/* The same for one part. */
int pipeline_read_part(const struct pipeline *pipeline, int root,
                       const struct request *request, struct part *part,
                       struct failure **failure);
