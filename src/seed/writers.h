/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What writes a seed's documents: a function for each, for the datasources' files. The parts of a request must have been resolved; their content is moved into
 * the documents.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>
#include <nettle/sha2.h>

#include "base/buffer.h"
#include "domain/documents.h"
#include "domain/domain.h"
#include "domain/network.h"
#include "domain/request.h"

/* --- the instance-id -------------------------------------------------------------- */

/*
 * The instance-id that the request's policy gives. That of policy="content" is the
 * domain's UUID, so that a clone is always a new instance, and a digest of the covered
 * documents: it is made while the seed is, and known once all other documents are.
 *
 * What is digested is what people choose: not the id itself, neither the public keys of
 * ssh (they alone set no guest up anew) nor what the host or virt-seed adds. It is the
 * same on every host that has the same files and secrets. Whoever changes the form of a
 * document that is generated sets guests up anew that have this policy.
 */
struct instance_id {
    const struct request *request; /* borrowed */
    bool masked;
    struct sha256_ctx digest; /* where the request covers something */
};

void instance_id_begin(struct instance_id *id, const struct request *request);

/* Return: whether the document belongs to what is digested. */
bool instance_id_covers(const struct instance_id *id, enum request_cover cover);

/* Adds a document, or a piece of one, under a name, where it is covered and not empty. */
void instance_id_add(struct instance_id *id, enum request_cover cover, const char *name,
                     const struct buffer *data);
/* The same for a mapping: its values, whatever the order of its keys. */
void instance_id_add_json(struct instance_id *id, enum request_cover cover,
                          const char *name, const json_t *object);

/* Return: the id, or INSTANCE_ID_MASK, owned by the caller (free). Nothing may be added
 * then. */
char *instance_id_end(struct instance_id *id);

/* --- user-data and vendor-data ---------------------------------------------------- */

/*
 * The documents user-data and vendor-data of a request, made of all that belongs to each:
 * what the user gave, in order, and what virt-seed adds.
 *
 * One piece alone is the document, byte for byte. Several become one MIME message, which
 * every cloud-init (and cloudbase-init) takes apart again ("User-data formats: MIME
 * multi-part archive"); each keeps its kind. Pieces of the user's meet as cloud-init's
 * own rules for several cloud-configs have it; what virt-seed adds comes last, with a
 * Merge-Type by which it fills in and never replaces ("Merging user-data sections").
 *
 * What the user gave is added to the instance-id, piece by piece.
 */
int combine_user_data(struct buffer *buffer, struct request *request,
                      struct instance_id *id, struct failure **failure);
void combine_vendor_data(struct buffer *buffer, struct request *request,
                         struct instance_id *id);

/*
 * The cloud-config that the request's elements amount to: users, passwords, files, ssh's
 * host keys, … of <initialization> and <ssh-host-keys>. What nobody asked for is not in
 * it. The words are those that cloud-init 22.4 and 26.2 both take without a warning.
 *
 * Writes '#cloud-config' and a mapping, as JSON, which is YAML; nothing if the request
 * has nothing that belongs there. The custom script is not in it: it is a user-data part
 * of its own. The mapping is added to the instance-id.
 */
int cloud_config_write(struct buffer *buffer, const struct request *request,
                       struct instance_id *id, struct failure **failure);

/* --- meta-data -------------------------------------------------------------------- */

/*
 * meta-data: who the guest is. The generated keys come first, then the request's own:
 * its entries, files and secrets. A key that is generated, or that two of them give, is
 * an error. It is the last document to be written: with it the instance-id ends.
 */

/* openstack/content/…, as meta_data.json names them: where the network's description is,
 * and the file of that number (from 1). */
#define CONFIGDRIVE_NETWORK_CONTENT "content/0000"
#define CONFIGDRIVE_FILE_CONTENT "content/%04zu"

/*
 * NoCloud's meta-data: instance-id, local-hostname, instance-type, public-keys. JSON,
 * which is YAML that cannot be misread, and the one form that every reader of NoCloud
 * takes.
 */
int meta_data_write_nocloud(struct buffer *buffer, const struct request *request,
                            struct instance_id *id, struct failure **failure);

/*
 * ConfigDrive's meta_data.json: uuid, hostname, name, instance_id, instance_type,
 * public_keys, devices, files, network_config, admin_pass.
 *
 * cloud-init takes the uuid for the instance-id, and where it is the system's own UUID,
 * it trusts what it cached and misses every change (DataSourceConfigDrive,
 * check_instance_id): so it is a name-based UUID of the instance-id below the domain's.
 */
int meta_data_write_configdrive(struct buffer *buffer, const struct request *request,
                                struct instance_id *id, struct failure **failure);

/* Return: a list, owned by the caller (json_decref); NULL where no device has a tag. */
json_t *devices_to_json(const struct domain *domain);

/* --- the network ------------------------------------------------------------------ */

/* network-config, version 2 ("Networking config Version 2" in cloud-init's
 * documentation), as JSON, which is YAML. */
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
