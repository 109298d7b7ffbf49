/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a domain's seed is: the one place that knows its name. */
#pragma once

#include <stdbool.h>

#include "domain/domain.h"

/* By which the seed's disk is known; what a user tags begins with "ua-", too. */
#define SEED_DISK_ALIAS "ua-virt-seed"

/* Return: the path that stands in the domain's XML, owned by the caller (free). */
char *seed_path(const char *uuid);

/* Return: whether the path is one of virt-seed's, of whatever domain. */
bool seed_path_is(const char *path);

/* Return: the domain's disk that has such a path, or NULL. */
const struct disk *seed_path_find_disk(const struct domain *domain);
