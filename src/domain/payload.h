/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oVirt's payload: a seed that its engine has made, in the domain's metadata (namespace
 * "http://ovirt.org/vm/1.0"): <volId>, and <file path="…"> elements of base64, in
 * <device><payload>, or in <specParams><vmPayload> before oVirt 4.2 (VDSM,
 * lib/vdsm/virt/vmdevices/storagexml.py). It becomes an image as it stands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/domain.h"

struct payload_file {
    char *path; /* relative, in its normal form */
    struct buffer data;
};

struct payload {
    char *volume_id;
    struct payload_file *files;
    size_t file_count;
};

/* Return: the payload's element in the metadata, or NULL. */
xmlNode *payload_find(const struct domain *domain);

/*
 * Reads the payload at that element. A path that would lead out of the image, or that is
 * there twice, is an error. Return: it, owned by the caller (payload_free), or NULL.
 */
struct payload *payload_read(const xmlNode *node, struct failure **failure);

void payload_free(struct payload *payload);
