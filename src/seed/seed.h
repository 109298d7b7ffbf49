/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed: a volume label and the documents that cloud-init reads, in a fixed order.
 * It is a function of the domain and its request alone: the same request gives the same
 * seed, on any host and at any time.
 */
#pragma once

#include "base/failure.h"
#include "domain/documents.h"
#include "domain/request.h"

/*
 * Makes the seed of a request, whose parts must have been read; their content is
 * moved into the seed (seed_check_part() comes before).
 */
int seed_make(struct seed *seed, struct request *request, struct failure **failure);

/* Replaces an instance-id that depends on secrets, if they are masked (part_mask()). */
#define INSTANCE_ID_MASK "<depends on secrets>"

struct identity; /* seed/layout.h */

/*
 * Adds NoCloud's documents a second time, in the layout of OpenStack's metadata service,
 * which is that of a ConfigDrive, for readers that do not know NoCloud's, such as
 * cloudbase-init's HttpService. `seed` was made from a request for NoCloud without a disk,
 * and `identity` is what it says of the guest.
 * Omits a network that this layout cannot express, and vendor-data that is not text.
 * Return: 0, or -1 if the user's own metadata has a key with another meaning there; then
 * nothing is added.
 */
int openstack_add(struct seed *seed, const struct request *request,
                  const struct identity *identity, struct failure **failure);

/* Checks a part's content, which must have been read, as the guest would read it. No
 * message contains any of the content. */
int seed_check_part(const struct request *request, const struct part *part,
                    struct failure **failure);
