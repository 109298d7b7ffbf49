/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seed that the hook would make of a domain, for `build` and `dump`. */
#pragma once

#include "cli/cli.h"
#include "cli/source.h"
#include "seed/seed.h"

/*
 * Loads the domain, resolves its request on this host, and makes the seed.
 *
 * `denied` is where `dump` keeps the failure of a secret that the caller may not read: in
 * place of its content the document then holds "<secret NAME/KEY>", and in that of a host
 * key that is not made yet PART_GENERATED_MASK. With NULL such a secret or key is a
 * failure like any other.
 */
int seeding_make(struct seed *seed, struct source *source, const struct context *context,
                 const struct arguments *arguments, struct failure **denied,
                 struct failure **failure);
