/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which documents of a seed have something of a secret in them, so that they are not shown
 * unasked: of a secret of the host's, of a password that stands in the request, or of what
 * oVirt's engine has made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "domain/domain.h"

struct secret_documents {
    bool all;         /* each may be one */
    bool instance_id; /* the instance-id depends on a secret */
    char **paths;
    size_t count;
};

/* Finds them of the seed that the domain's request asks for. No secret is read. */
void secret_documents_find(struct secret_documents *documents,
                           const struct domain *domain);

bool secret_documents_have(const struct secret_documents *documents, const char *path);

void secret_documents_clear(struct secret_documents *documents);

#define cleanup_secret_documents __attribute__((cleanup(secret_documents_clear)))
