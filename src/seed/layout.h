/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cloud-init takes from the documents of a seed, whoever made it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "domain/documents.h"
#include "seed/seed.h"

/* Who the guest is by its seed; NULL for what is not said, else owned
 * (identity_clear). */
struct identity {
    char *instance_id; /* what cloud-init takes for it: of a ConfigDrive, the uuid */
    char *request_id;  /* the request's, of which virt-seed makes that uuid */
    char *hostname;
};

/* Reads it from the documents, whose label was `layout`'s. */
int layout_read_identity(const struct layout *layout, const struct seed *seed,
                         struct identity *identity, struct failure **failure);

/* Return: whether both have an instance-id, and the same. */
bool identity_is_same(const struct identity *one, const struct identity *other);

void identity_clear(struct identity *identity);

#define cleanup_identity __attribute__((cleanup(identity_clear)))

/*
 * Says in a few words what cloud-init takes from the document: "cloud-config",
 * "instance-id web1, local-hostname web1". Return: owned by the caller (free), or NULL
 * with the failure that cloud-init would run into.
 */
char *layout_describe(const struct layout_document *document, const char *data,
                      size_t size, struct failure **failure);

/* Return: the instance-id that cloud-init takes from the document, owned by the caller
 * (free), or NULL where there is none, or it is no meta-data. */
char *layout_instance_id(const struct layout_document *document, const char *data,
                         size_t size);
