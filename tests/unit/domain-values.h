/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values in a domain's XML, by host/domain-text.h and by libxml2, for a comparison. */
#pragma once

#include <libxml/tree.h>

#include "base/buffer.h"
#include "base/failure.h"

/* Each is a text, "PARENT ELEMENT VALUE". */
struct domain_values {
    char **texts;
    size_t count;
};

int domain_values_read(struct domain_values *values, const struct buffer *xml,
                       struct failure **failure);
/* The same of the parsed document. */
void domain_values_walk(struct domain_values *values, const xmlNode *root);
void domain_values_clear(struct domain_values *values);

#define cleanup_domain_values __attribute__((cleanup(domain_values_clear)))
