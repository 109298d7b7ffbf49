/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What writes a seed's documents: a function for each document, for the files of the
 * datasources. The parts of a request must have been read; their content is moved into the
 * documents.
 */
#pragma once

#include <jansson.h>
#include <nettle/sha2.h>

#include "domain/domain.h"
#include "domain/network.h"
#include "domain/request.h"

/* --- the instance-id -------------------------------------------------------------- */

/*
 * The instance-id, by the request's policy. With policy="content" it consists of the
 * domain's UUID, so that a clone is always a new instance, and a digest of the covered
 * documents. It grows with the seed, and is complete after all other documents.
 *
 * The digest covers what people choose. It covers neither the id itself, nor the ssh keys,
 * which do not set up a guest again, nor what the host or virt-seed adds. It is the same
 * on every host with the same files and secrets. A change to the form of a generated
 * document sets up all guests with this policy again.
 */
struct instance_id {
    const struct request *request; /* borrowed */
    bool masked;
    struct sha256_ctx digest; /* if the request covers anything */
};

void instance_id_begin(struct instance_id *id, const struct request *request);

/* Adds a document, or a piece of one, under a name, if it is covered and not empty. */
void instance_id_add(struct instance_id *id, enum request_cover cover, const char *name,
                     const struct buffer *data);
/* The same for a mapping; the order of its keys does not matter. */
void instance_id_add_json(struct instance_id *id, enum request_cover cover,
                          const char *name, const json_t *object);

/* Return: the id, or INSTANCE_ID_MASK, owned by the caller (free). Nothing may be added
 * after that. */
char *instance_id_end(struct instance_id *id);

/* --- user-data and vendor-data ---------------------------------------------------- */

/*
 * Make user-data and vendor-data from the user's pieces, in order, and what virt-seed
 * adds.
 *
 * A single piece is the document, byte for byte, unless it is text that cloud-init would
 * mistake for MIME. Several become a MIME message, which every cloud-init (and
 * cloudbase-init) takes apart again ("User-data formats: MIME multi-part archive"); each
 * piece keeps its kind, and gzip is unpacked. cloud-init's usual rules apply to
 * several cloud-configs of the user. What virt-seed adds comes last, with a Merge-Type by
 * which it adds settings but never replaces any ("Merging user-data sections").
 *
 * Each of the user's pieces is added to the instance-id.
 */
int combine_user_data(struct buffer *buffer, struct request *request,
                      struct instance_id *id, struct failure **failure);
int combine_vendor_data(struct buffer *buffer, struct request *request,
                        struct instance_id *id, struct failure **failure);

/*
 * The cloud-config for the request's elements: users, passwords, files, ssh host keys, …
 * of <initialization> and <ssh-host-keys>, and nothing that nobody asked for. It uses only
 * keys that both cloud-init 22.4 and 26.2 accept without a warning, and repeats passwords
 * for versions before 22.2, which know only another key.
 *
 * Writes '#cloud-config' and a mapping, as JSON, which is YAML; or nothing if there is
 * nothing to write. The custom script is a separate piece of user-data. The mapping is
 * added to the instance-id.
 */
void cloud_config_write(struct buffer *buffer, const struct request *request,
                        struct instance_id *id);

/* --- meta-data -------------------------------------------------------------------- */

/*
 * meta-data: who the guest is. The generated keys come first, then those of the request's
 * entries, files and secrets, which may not contain a generated key or a duplicate. It is
 * the last document to be written, because it contains the instance-id.
 */

/* The path below openstack/ of the file with that number, from 1. meta_data.json names it. */
#define CONFIGDRIVE_FILE_CONTENT "content/%04zu"

/*
 * NoCloud's meta-data: instance-id, local-hostname, instance-type, public-keys. It is
 * JSON, which is unambiguous YAML, and the only form that every reader of NoCloud accepts.
 */
int meta_data_write_nocloud(struct buffer *buffer, const struct request *request,
                            struct instance_id *id, struct failure **failure);

/*
 * ConfigDrive's meta_data.json: uuid, hostname, name, instance_id, instance_type,
 * public_keys, devices, files, admin_pass.
 *
 * cloud-init takes the uuid for the instance-id. If it is the system's own UUID,
 * cloud-init trusts its cache and misses every change (DataSourceConfigDrive,
 * check_instance_id). So it is a name-based UUID, made from the instance-id in the
 * domain's UUID as the namespace, unless policy="fixed" gives it. instance_id, which
 * KubeVirt's guests know, is the same.
 */
int meta_data_write_configdrive(struct buffer *buffer, const struct request *request,
                                struct instance_id *id, struct failure **failure);

/* Return: a list, owned by the caller (json_decref); NULL if no device has a tag. */
json_t *devices_to_json(const struct domain *domain);

/* --- the network ------------------------------------------------------------------ */

typedef int network_writer(struct buffer *buffer, const struct network *network,
                           struct failure **failure);

/* Adds the document at that path, the user's own or a generated one, if there is one to add,
 * also to the instance-id. */
int network_add(struct seed *seed, const char *path, struct request *request,
                network_writer *write, struct instance_id *id, struct failure **failure);

/* network-config, version 2 ("Networking config Version 2" in cloud-init's
 * documentation), as JSON, which is YAML. */
network_writer network_write_v2;

/*
 * network_data.json (OpenStack's network_data.json schema, as cloud-init's
 * sources/helpers/openstack.py, convert_net_json, reads it).
 * Return: 0, or -1 if it cannot express something in the network, or if cloud-init would
 * ignore that.
 */
network_writer network_write_openstack;
