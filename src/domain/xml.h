/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The little of libxml2 that reading and wiring a domain needs.
 *
 * Elements of libvirt's own vocabulary have no namespace, ours has one; the functions
 * below that take a `name` look at elements without a namespace only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <libxml/tree.h>

#include "base/failure.h"

/*
 * Parses one document. It may not have a document type (no entities), its nesting and
 * text are bounded by libxml2's own limits, nothing is fetched from anywhere. `origin`
 * is what messages call it: a file's name, or "standard input".
 * Return: the document, owned by the caller (cleanup_xml), or NULL.
 */
xmlDoc *xml_parse(const char *data, size_t size, const char *origin,
                  struct failure **failure);

/*
 * Return: the document as text in UTF-8, with a declaration where it had one, owned by the
 * caller (free); NULL when a namespace's name has a character that libxml2 would write
 * unescaped, so that nobody could read the text.
 */
char *xml_format(xmlDoc *doc, size_t *size, struct failure **failure);

/* Return: the first child element of that name (of NULL: none), or the next sibling, or
 * NULL. */
xmlNode *xml_child(const xmlNode *parent, const char *name);
xmlNode *xml_next(const xmlNode *node, const char *name);

/* Return: the first element below `parent`, or the next after `node`, of any name and
 * namespace, or NULL. */
xmlNode *xml_first_element(const xmlNode *parent);
xmlNode *xml_next_element(const xmlNode *node);

/* Return: whether the element has that name in that namespace. */
bool xml_is_in(const xmlNode *node, const char *space, const char *name);
/* Return: the first child element (of NULL: none) of that name in that namespace, or NULL. */
xmlNode *xml_child_in(const xmlNode *parent, const char *space, const char *name);

/* Return: the attribute's value or the text below the element, owned by the caller
 * (free); NULL if there is no such attribute. */
char *xml_attribute(const xmlNode *node, const char *name);
char *xml_text(const xmlNode *node);
/* Return: the same text, borrowed from the document, if it is there in one piece;
 * else NULL. */
const char *xml_single_text(const xmlNode *node);
/* Return: whether the attribute is there and has that value. */
bool xml_attribute_is(const xmlNode *node, const char *name, const char *value);
/* Return: the attribute as a decimal number from 0 to `maximum`, or -1. */
long xml_attribute_number(const xmlNode *node, const char *name, long maximum);

/* Sets the attribute, in the place of what it was. */
void xml_set_attribute(xmlNode *node, const char *name, const char *value);

/* Return: the line the element begins at. */
int xml_line(const xmlNode *node);

/*
 * Adds an element without namespace, indented as its neighbours are: as the last child,
 * or right after `sibling`. Return: it, owned by the document.
 */
xmlNode *xml_add_child(xmlNode *parent, const char *name);
xmlNode *xml_add_after(xmlNode *sibling, const char *name);
/* The same with an element that is in no tree. Return: it. */
xmlNode *xml_insert_child(xmlNode *parent, xmlNode *node);
/* Removes the element and the white space that indented it. */
void xml_remove(xmlNode *node);

static inline void
xml_free_pointer(xmlDoc **doc)
{
    xmlFreeDoc(*doc);
}

#define cleanup_xml __attribute__((cleanup(xml_free_pointer)))
