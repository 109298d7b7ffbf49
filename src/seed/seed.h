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

/* Return: the instance-id in a seed of NoCloud, owned by the caller (free). */
char *nocloud_instance_id(const struct seed *seed);

/*
 * Adds the documents of NoCloud once more, in the layout of OpenStack's metadata service, which
 * is that of a ConfigDrive, to a seed that was made of a request for NoCloud without a disk: for
 * readers that know no other, such as cloudbase-init's HttpService. A network that this layout
 * cannot express, and vendor-data that is not text, are left out.
 * Return: 0; or -1, if metadata of the user's own has a key that means something else there;
 * nothing is added then.
 */
int openstack_add(struct seed *seed, const struct request *request,
                  struct failure **failure);

/* Checks the content of a part that was resolved, by its kind, as the guest would read it. No
 * message holds any of it. */
int check_part(const struct request *request, const struct part *part,
               struct failure **failure);

/* --- the datasources, each in its file, for seed_make() -------------------------------- */

int nocloud_make(struct seed *seed, struct request *request, struct failure **failure);
int configdrive_make(struct seed *seed, struct request *request,
                     struct failure **failure);
