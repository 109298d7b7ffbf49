/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network, in the form that each datasource carries: written as it is described
 * (domain/network.h), or checked if the user has written it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/domain.h"
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

/*
 * Checks a network-config, version 1 or 2: that it is YAML with a version that cloud-init knows, with or without the
 * wrapping `network:`; or the words that switch it off, `config: disabled`.
 */
int network_config_check(const char *data, size_t size, struct failure **failure);

/*
 * The same for ConfigDrive's network_data.json: strict JSON with its lists, at most
 * LIMIT_NICS links, in each object the texts that cloud-init indexes. A link whose
 * address is none of the domain's interfaces' (domain/domain.h), or that has neither address
 * nor name, is an error, as it is for the guest (cloud-init's convert_net_json raises).
 */
int network_data_check(const char *data, size_t size, const struct domain *domain,
                       struct failure **failure);
