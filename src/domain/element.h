/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the <cloud-init> element (xml/cloud-init.rng), for `import`, `set` and others. */
#pragma once

#include <libxml/tree.h>

#include "base/base.h"

/* Adds an element as the last child. Return: it, owned by the document. */
xmlNode *element_add(xmlNode *parent, const char *name);
/* Return: the first such child, added if there was none. */
xmlNode *element_ensure(xmlNode *parent, const char *name);
/* Adds an element with text; in CDATA if that is easier to read. */
xmlNode *element_add_text(xmlNode *parent, const char *name, const char *text);
/* The same for a document, byte for byte: in base64 if XML or an editor would change
 * it. */
xmlNode *element_add_data(xmlNode *parent, const char *name, const char *data,
                          size_t size);

/* Return: whether XML can hold it as text: UTF-8 without control characters other than tabs
 * and line ends. */
bool element_can_hold(const char *data, size_t size);

/* Return: the element as indented text, owned by the caller (free). */
char *element_format(const xmlDoc *doc);
