/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The datasources: each makes the seed of a request, whose parts have been resolved; their
 * content is moved into the seed, which was empty. One is a row in seed.c, too.
 */
#pragma once

#include "base/failure.h"

struct request;
struct seed;

/*
 * NoCloud (https://docs.cloud-init.io/en/latest/reference/datasources/nocloud.html): the label
 * "cidata", meta-data and user-data, which it demands even if they are empty, and vendor-data
 * and network-config if they have content. NoCloud without a disk has the same documents.
 */
int nocloud_make(struct seed *seed, struct request *request, struct failure **failure);
int nocloud_net_make(struct seed *seed, struct request *request,
                     struct failure **failure);

/* Return: the instance-id in such a seed, owned by the caller (free). */
char *nocloud_instance_id(const struct seed *seed);

/*
 * ConfigDrive, version 2: OpenStack's "config drive" as cloud-init
 * (sources/DataSourceConfigDrive.py, helpers/openstack.py) and cloudbase-init read it. Only
 * openstack/latest is written: every reader takes it if there is no dated directory.
 */
int configdrive_make(struct seed *seed, struct request *request,
                     struct failure **failure);

/*
 * Adds the documents of NoCloud once more, in the layout of OpenStack's metadata service, which
 * is that of a ConfigDrive, to a seed that nocloud_net_make() has made of the request: for
 * readers that know no other, such as cloudbase-init's HttpService. A network that this layout
 * cannot express, and vendor-data that is not text, are left out.
 * Return: 0; or -1, if metadata of the user's own has a key that means something else there;
 * nothing is added then.
 */
int openstack_add(struct seed *seed, const struct request *request,
                  struct failure **failure);
