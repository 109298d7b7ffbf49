/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#pragma once

#include <stdbool.h>

#include <jansson.h>
#include <nettle/sha2.h>

#include "base/buffer.h"
#include "domain/request.h"

/* In its place where a covered document has a placeholder for a secret: part_mask(). */
#define INSTANCE_ID_MASK "<depends on secrets>"

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
