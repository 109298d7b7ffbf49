/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A described network (domain/network.h), in the form that each datasource carries. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/network.h"

/* network-config, version 2 ("Networking config Version 2" in cloud-init's documentation),
 * as JSON, which is YAML. */
void network_write_v2(struct buffer *buffer, const struct network *network);

/*
 * network_data.json (OpenStack's network_data.json schema, as cloud-init's
 * sources/helpers/openstack.py, convert_net_json, reads it).
 * Return: 0, or -1 when something is described that it cannot say, or that cloud-init
 * passes over there.
 */
int network_write_openstack(struct buffer *buffer, const struct network *network,
                            struct failure **failure);

/* interfaces(5), for a ConfigDrive's network_config.content_path, as cloud-init's
 * net/eni.py, convert_eni_data, reads it. Return: as above. */
int network_write_eni(struct buffer *buffer, const struct network *network,
                      struct failure **failure);

/* Return: whether each name server and search domain belongs to a nic that has an address.
 * On a ConfigDrive, cloud-init's renderer for netplan passes over those of the others. */
bool network_carries_dns(const struct network *network);
