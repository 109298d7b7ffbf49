/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of libxml2 that reading and wiring a domain needs.
 *
 * libvirt's elements have no namespace, ours have one. Unless they take a namespace,
 * functions that take an element's name find only elements without one.
 */
#pragma once

#include <libxml/tree.h>

#include "base/base.h"

/*
 * Parses a document. It may not have a document type (so no entities), libxml2's own
 * limits bound its nesting and text, and nothing is fetched. `origin` is its name in
 * messages: a file's name, or "standard input". Return: the document, owned by the caller
 * (cleanup_xml), or NULL.
 */
xmlDoc *xml_parse(const char *data, size_t size, const char *origin,
                  struct failure **failure);

/*
 * Return: the document as UTF-8 text, in the form of virsh dumpxml, with a declaration if
 * it had one; owned by the caller (free). What virsh dumpxml printed is the same again;
 * anything else keeps its meaning, comments, and the white space between elements.
 */
char *xml_format(const xmlDoc *doc);

/*
 * Return: the domain's element in libvirt's form, with what libvirt reads of it: outside
 * <metadata> no comments, CDATA sections, processing instructions, and texts beside
 * elements. Elements are in the same lines as in the document that was read. Owned by the
 * caller (cleanup_buffer).
 */
struct buffer xml_format_as_libvirt(const xmlNode *root);

/* Return: the node, without a declaration, as UTF-8 text, owned by the caller (free).
 * `indent` is for a tree that has no white space of its own. */
char *xml_format_node(const xmlNode *node, bool indent);

/* Return: the first child, or the next sibling, of that name, or NULL; the given node may
 * be NULL, here and below. */
xmlNode *xml_child(const xmlNode *parent, const char *name);
xmlNode *xml_next(const xmlNode *node, const char *name);

/* Return: the first child, or the next sibling, of any name and namespace, or NULL. */
xmlNode *xml_first_element(const xmlNode *parent);
xmlNode *xml_next_element(const xmlNode *node);
/* Loop over the children of that name, or over those of any name and namespace; `parent`
 * may be NULL. The loop may remove `node`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): they declare `node` */
#define xml_foreach(node, parent, name)                                                  \
    for (xmlNode *node = xml_child((parent), (name)),                                    \
                 *node##_next = xml_next(node, (name));                                  \
         node; node = node##_next, node##_next = xml_next(node, (name)))
#define xml_foreach_element(node, parent)                                                \
    for (xmlNode *node = xml_first_element(parent),                                      \
                 *node##_next = xml_next_element(node);                                  \
         node; node = node##_next, node##_next = xml_next_element(node))
/* NOLINTEND(bugprone-macro-parentheses) */
/* Return: the next element inside `top` after `node`, in document order, or NULL. */
xmlNode *xml_next_below(const xmlNode *node, const xmlNode *top);

/* Return: whether the element has that name in that namespace. */
bool xml_is_in(const xmlNode *node, const char *space, const char *name);
/* Return: the first such child in that namespace, or NULL; `parent` may be NULL. */
xmlNode *xml_child_in(const xmlNode *parent, const char *space, const char *name);

/* Return: the attribute's value, NULL if there is no such attribute, or all text in the
 * element; owned by the caller (free). Here and below, `node` may be NULL, which has no
 * attributes and no text. */
char *xml_attribute(const xmlNode *node, const char *name);
char *xml_text(const xmlNode *node);
/* Return: the same text, borrowed from the document, if it is one node; else NULL. */
const char *xml_single_text(const xmlNode *node);
/* Return: whether the element has the attribute with that value. */
bool xml_attribute_is(const xmlNode *node, const char *name, const char *value);
/* Return: the attribute as a decimal number from 0 to `maximum`, or -1. */
long xml_attribute_number(const xmlNode *node, const char *name, long maximum);

/* Sets the attribute, or replaces its value. */
void xml_set_attribute(xmlNode *node, const char *name, const char *value);

/* Return: the line where the element begins. */
int xml_line(const xmlNode *node);

/*
 * Adds an element without namespace, indented like its neighbours, as the last child or
 * right after `sibling` and a comment in its line. Return: the element, owned by the
 * document.
 */
xmlNode *xml_add_child(xmlNode *parent, const char *name);
xmlNode *xml_add_after(xmlNode *sibling, const char *name);
/* Adds an existing element that is not in a tree. Return: the element. */
xmlNode *xml_insert_child(xmlNode *parent, xmlNode *node);
/* Removes the element and the white space that indented it. */
void xml_remove(xmlNode *node);

static inline void
xml_free_pointer(xmlDoc **doc)
{
    xmlFreeDoc(*doc);
}

#define cleanup_xml __attribute__((cleanup(xml_free_pointer)))
