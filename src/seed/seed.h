/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed: a volume label and the documents that cloud-init reads, in a fixed order.
 * It is a function of the domain and its request alone: the same request gives the same
 * seed, on any host and at any time.
 */
#pragma once

#include "domain/documents.h"
#include "domain/request.h"

/*
 * Makes the seed of a request, whose parts must have been resolved; their content is
 * moved into the seed (check_part() comes before).
 */
int seed_make(struct seed *seed, struct request *request, struct failure **failure);
