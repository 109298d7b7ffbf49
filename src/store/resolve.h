/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a request that stand in files and secrets of this host. */
#pragma once

#include "domain/request.h"
#include "store/configuration.h"

/*
 * Reads the part's bytes, where they are not in the domain's XML; the key of a secret is
 * noted in the part, on failure the one that was looked for first. What virt-seed makes
 * at a start is read where it is there; else it is FAILURE_SECRET_MISSING.
 */
int resolve_part(struct part *part, int root, const struct config *config,
                 const struct domain *domain, struct failure **failure);

/*
 * Adds what the configuration gives to every domain, the host's own vendor-data; and where
 * the guest is recorded as set up (boots="until-done"), leaves its identity alone.
 */
int resolve_begin(struct request *request, int root, const struct config *config,
                  struct failure **failure);

enum resolve_start {
    RESOLVE_COLD_BOOT, /* may make what the domain shall have from now on: ssh's host key */
    RESOLVE_RESUME,    /* the guest has it, or somebody has lost it */
};

/* Both, for every part of the request, at a start of the domain. */
int resolve_request(struct request *request, int root, const struct config *config,
                    const struct domain *domain, enum resolve_start start,
                    struct failure **failure);
