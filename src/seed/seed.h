/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed: a volume label and the documents that cloud-init reads, in a fixed order.
 * It is a function of the domain and its request alone: the same request gives the same
 * seed, on any host and at any time.
 */
#pragma once

#include "domain/documents.h"
#include "domain/request.h"

/* Checks the content of all parts, which must have been resolved, as the guest would read
 * them (check-part.h). */
int seed_check(const struct request *request, struct failure **failure);

/*
 * Makes the seed of a request, whose parts must have been resolved; their content is
 * moved into the seed (seed_check() comes before).
 */
int seed_make(struct seed *seed, struct request *request, struct failure **failure);
