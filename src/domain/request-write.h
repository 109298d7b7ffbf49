/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The <cloud-init> element as a whole: written into a domain, and compared. */
#pragma once

#include <stdbool.h>

#include "domain/domain.h"

/* Writes a copy of the element into the domain's <metadata>, which has none.
 * Return: the copy, owned by the domain's document. */
xmlNode *request_insert(const struct domain *domain, const xmlNode *element);

/* Return: the element as text, without its namespace, as virDomainSetMetadata() wants it;
 * owned by the caller (free). */
char *request_format(const xmlNode *element);

/* Return: whether both ask for the same, whatever the prefix, the white space between
 * elements, and what the wiring notes in the element. NULL is no element. */
bool request_is_same(const xmlNode *one, const xmlNode *other);
