/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meta-data: who the guest is. The generated keys come first, then the request's own:
 * its entries, files and secrets. A key that is generated, or that two of them give, is an
 * error. It is the last document to be written: with it the instance-id ends.
 */
#pragma once

#include <jansson.h>

#include "base/buffer.h"
#include "domain/domain.h"
#include "domain/request.h"
#include "seed/instance-id.h"

/* openstack/content/…, as meta_data.json names them: where the network's description is,
 * and the file of that number (from 1). */
#define CONFIGDRIVE_NETWORK_CONTENT "content/0000"
#define CONFIGDRIVE_FILE_CONTENT "content/%04zu"

/*
 * NoCloud's meta-data: instance-id, local-hostname, instance-type, public-keys. JSON, which
 * is YAML that cannot be misread, and the one form that every reader of NoCloud takes.
 */
int meta_data_write_nocloud(struct buffer *buffer, const struct request *request,
                            struct instance_id *id, struct failure **failure);

/*
 * ConfigDrive's meta_data.json: uuid, hostname, name, instance_id, instance_type,
 * public_keys, devices, files, network_config, admin_pass.
 *
 * cloud-init takes the uuid for the instance-id, and where it is the system's own UUID, it
 * trusts what it cached and misses every change (DataSourceConfigDrive,
 * check_instance_id): so it is a name-based UUID of the instance-id below the domain's.
 */
int meta_data_write_configdrive(struct buffer *buffer, const struct request *request,
                                struct instance_id *id, struct failure **failure);

/* Return: a list, owned by the caller (json_decref); NULL where no device has a tag. */
json_t *devices_to_json(const struct domain *domain);
