/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing our <cloud-init> element: xml/cloud-init.rng. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <libxml/tree.h>

/* Return: a document whose root is an empty <ci:cloud-init>, owned by the caller
 * (cleanup_xml). */
xmlDoc *element_new(void);

/* Adds an element as the last child. Return: it, owned by the document. */
xmlNode *element_add(xmlNode *parent, const char *name);
/* The same, with text; in CDATA where that is easier to read. */
xmlNode *element_add_text(xmlNode *parent, const char *name, const char *text);
/* The same for a document, byte for byte: in base64 where XML, or who edits it, would
 * change it. */
xmlNode *element_add_data(xmlNode *parent, const char *name, const char *data,
                          size_t size);
void element_set(xmlNode *node, const char *attribute, const char *value);

/* Return: whether XML can hold it as text: UTF-8 without control characters, but for the
 * tab and the ends of lines. */
bool element_can_hold(const char *data, size_t size);

/* Return: the element as indented text, owned by the caller (free). */
char *element_format(const xmlDoc *doc);
