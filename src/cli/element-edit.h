/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changing a <cloud-init> element that is there; all names are those of our namespace. */
#pragma once

#include <libxml/tree.h>

/* Return: the first child of that name, or NULL; of no parent, NULL. */
xmlNode *element_find(const xmlNode *parent, const char *name);
/* Return: the same, added where there is none. */
xmlNode *element_find_or_add(xmlNode *parent, const char *name);

/* Gives an element that was added last the white space of its neighbours. Return: it. */
xmlNode *element_indent(xmlNode *node);

void element_remove_all(xmlNode *parent, const char *name);
void element_unset(xmlNode *node, const char *attribute);
/* For an element that is there for its children or attributes alone; it may be NULL. */
void element_remove_if_empty(xmlNode *node);
