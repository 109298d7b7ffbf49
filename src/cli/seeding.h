/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seed that the hook would make of a domain. */
#pragma once

#include "cli/cli.h"
#include "cli/source.h"
#include "domain/request.h"
#include "seed/seed.h"

/*
 * Resolves the domain's request on this host, and makes the seed.
 *
 * `denied` is where `dump` keeps the failure of a secret that the caller may not read: in
 * place of its content the document then holds "<secret NAME/KEY>", and in that of a host
 * key that is not made yet PART_GENERATED_MASK, and so for all of them without `show_secrets`.
 * With NULL such a secret or key is a
 * failure like any other.
 */
int seeding_make_of(struct seed *seed, const struct domain *domain,
                    const struct context *context, bool show_secrets,
                    struct failure **denied, struct failure **failure);

/* The same, with the request that the seed was made of, for what is published beside it; it
 * borrows the domain. */
int seeding_make_with(struct seed *seed, struct request *request,
                      const struct domain *domain, const struct context *context,
                      bool show_secrets, struct failure **denied,
                      struct failure **failure);

/* The same for the domain that the first operand names, which is loaded first. */
int seeding_make(struct seed *seed, struct source *source, const struct context *context,
                 bool show_secrets, struct failure **denied, struct failure **failure);
