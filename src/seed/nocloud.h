/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NoCloud datasource:
 * https://docs.cloud-init.io/en/latest/reference/datasources/nocloud.html */
#pragma once

#include "domain/documents.h"
#include "domain/request.h"

/*
 * Makes a seed with the label "cidata": meta-data and user-data, which NoCloud demands
 * even where they are empty, and vendor-data and network-config where they have
 * content.
 */
int nocloud_make(struct seed *seed, struct request *request, struct failure **failure);

/* The same for NoCloud without a disk: the guest fetches the documents over HTTP, the seed is
 * served. */
int nocloud_net_make(struct seed *seed, struct request *request,
                     struct failure **failure);

/* Return: the instance-id in such a seed, owned by the caller (free). */
char *nocloud_instance_id(const struct seed *seed);
