/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A described network (domain/network.h), in the form that each datasource carries. */
#pragma once

#include "base/buffer.h"
#include "domain/network.h"

/* network-config, version 2 ("Networking config Version 2" in cloud-init's documentation),
 * as JSON, which is YAML. */
void network_write_v2(struct buffer *buffer, const struct network *network);

/* network_data.json (OpenStack's network_data.json schema, as cloud-init's
 * sources/helpers/openstack.py, convert_net_json, reads it). */
void network_write_openstack(struct buffer *buffer, const struct network *network);

/* interfaces(5), for a ConfigDrive's network_config.content_path. */
void network_write_eni(struct buffer *buffer, const struct network *network);
