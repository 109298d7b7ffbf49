/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed: a volume label and the documents that cloud-init reads, in a fixed order.
 * It is a function of the domain and its request alone: the same request gives the same
 * seed, on any host and at any time.
 */
#pragma once

#include "domain/request.h"
#include "host/documents.h"

/*
 * Makes the seed of a request, whose parts must have been read; their content is
 * moved into the seed (seed_check_part() comes before).
 */
int seed_make(struct seed *seed, struct request *request, struct failure **failure);

/* Replaces an instance-id that depends on secrets, if they are masked (part_mask()). */
#define INSTANCE_ID_MASK "<depends on secrets>"

/* Checks a part's content, which must have been read, as the guest would read it. No
 * message contains any of the content. */
int seed_check_part(const struct request *request, const struct part *part,
                    struct failure **failure);

/* Fails if a key of the user's own metadata is one that virt-seed generates, or is repeated.
 * Parts that have not been read count only with the keys that the request names. */
int seed_check_meta_data(const struct request *request, struct failure **failure);
