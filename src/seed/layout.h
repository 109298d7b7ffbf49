/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cloud-init takes from the documents of a seed, whoever made it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "domain/documents.h"
#include "seed/seed.h"

/* Who the guest is, according to its seed; NULL for what the seed does not say, else owned
 * (identity_clear). */
struct identity {
    char *instance_id; /* the one that cloud-init uses: on a ConfigDrive, the uuid */
    char *request_id;  /* the request's, from which virt-seed makes that uuid */
    char *hostname;
};

/* Reads it from a seed with that layout. */
int layout_read_identity(const struct layout *layout, const struct seed *seed,
                         struct identity *identity, struct failure **failure);

/* Return: whether both have the same instance-id; two without any are not the same. */
bool identity_is_same(const struct identity *one, const struct identity *other);

void identity_clear(struct identity *identity);

#define cleanup_identity __attribute__((cleanup(identity_clear)))

/*
 * Says in a few words what cloud-init takes from the document: "cloud-config",
 * "instance-id web1, local-hostname web1". Return: owned by the caller (free), or NULL
 * if cloud-init would fail to read it.
 */
char *layout_describe(const struct layout_document *document, const char *data,
                      size_t size, struct failure **failure);

/* Return: the instance-id that cloud-init takes from the document, owned by the caller
 * (free); NULL if it has none, or is not meta-data. */
char *layout_instance_id(const struct layout_document *document, const char *data,
                         size_t size);
