/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The documents of NoCloud once more, in the layout of OpenStack's metadata service, which is
 * that of a ConfigDrive (configdrive.h): for readers that know no other, such as
 * cloudbase-init's HttpService.
 */
#pragma once

#include "domain/documents.h"
#include "domain/request.h"

/*
 * Adds them to the seed, as nocloud_make() has made it of the request, below
 * openstack/latest. A network that this layout cannot say, and vendor-data that are no text,
 * are left out.
 * Return: 0; or -1, where metadata of the user's own have a key that means something else
 * there; nothing is added then.
 */
int openstack_add(struct seed *seed, const struct request *request,
                  struct failure **failure);
