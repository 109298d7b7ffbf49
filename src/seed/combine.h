/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The documents user-data and vendor-data of a request, made of all that belongs to each:
 * what the user gave, in order, and what virt-seed adds.
 *
 * One piece alone is the document, byte for byte. Several become one MIME message, which
 * every cloud-init (and cloudbase-init) takes apart again ("User-data formats: MIME
 * multi-part archive"); each keeps its kind. Pieces of the user's meet as cloud-init's own
 * rules for several cloud-configs have it; what virt-seed adds comes last, with a Merge-Type
 * by which it fills in and never replaces ("Merging user-data sections").
 */
#pragma once

#include "base/buffer.h"
#include "domain/request.h"
#include "seed/instance-id.h"

/* The parts must have been resolved; their content is moved away. What the user gave is
 * added to the instance-id, piece by piece. */
int combine_user_data(struct buffer *buffer, struct request *request,
                      struct instance_id *id, struct failure **failure);
void combine_vendor_data(struct buffer *buffer, struct request *request,
                         struct instance_id *id);

/*
 * The cloud-config that the request's elements amount to: users, passwords, files, ssh's
 * host keys, … of <initialization> and <ssh-host-keys>. What nobody asked for is not in it.
 * The words are those that cloud-init 22.4 and 26.2 both take without a warning.
 *
 * Writes '#cloud-config' and a mapping, as JSON, which is YAML; nothing if the request has
 * nothing that belongs there. The custom script is not in it: it is a user-data part of its
 * own. The mapping is added to the instance-id.
 */
int cloud_config_write(struct buffer *buffer, const struct request *request,
                       struct instance_id *id, struct failure **failure);
