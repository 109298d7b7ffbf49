/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oVirt's payload: a seed that its engine has made, in the domain's metadata (namespace
 * "http://ovirt.org/vm/1.0"): <volId>, and <file path="…"> elements of base64, in
 * <device><payload>, or in <specParams><vmPayload> before oVirt 4.2 (VDSM,
 * lib/vdsm/virt/vmdevices/storagexml.py). It becomes an image as it stands.
 */
#pragma once

#include "base/failure.h"
#include "domain/documents.h"
#include "domain/domain.h"

/* Return: the payload's element in the metadata, or NULL. */
xmlNode *payload_find(const struct domain *domain);

/*
 * Reads the payload at that element. A path that would lead out of the image, or that is
 * there twice, is an error. Return: it, owned by the caller (payload_free), or NULL.
 */
struct seed *payload_read(const xmlNode *node, struct failure **failure);

void payload_free(struct seed *payload);
