/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices that a ConfigDrive's meta_data.json names, as OpenStack ("device role
 * tagging") and KubeVirt have it: type, bus, address, mac, tags; read from the domain's
 * own devices that have an alias of the user's (ua-TAG).
 */
#pragma once

#include <jansson.h>

#include "domain/domain.h"

/* Return: a list, owned by the caller (json_decref); NULL where no device has a tag. */
json_t *devices_to_json(const struct domain *domain);
