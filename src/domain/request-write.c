/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/request-write.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

xmlNode *
request_insert(const struct domain *domain, const xmlNode *element)
{
    xmlNode *metadata = xml_child(domain->root, "metadata");
    xmlNode *name = xml_child(domain->root, "name");
    xmlNode *copy = xmlDocCopyNode((xmlNode *)element, domain->root->doc, 1);

    if (!copy)
        abort();
    if (!metadata)
        metadata = name ? xml_add_after(name, "metadata")
                        : xml_add_child(domain->root, "metadata");
    return xml_insert_child(metadata, copy);
}

/* --- as text ---------------------------------------------------------------------- */

static void
leave_namespace(xmlNode *node)
{
    for (xmlNode *child = xml_first_element(node); child; child = xml_next_element(child))
        leave_namespace(child);
    if (vocabulary_is_ours(node))
        xmlSetNs(node, NULL);
    for (xmlNs **link = &node->nsDef; *link;) {
        xmlNs *ns = *link;

        if (!ns->href || strcmp((const char *)ns->href, REQUEST_NAMESPACE) != 0) {
            link = &ns->next;
            continue;
        }
        *link = ns->next;
        xmlFreeNs(ns);
    }
}

/* White space between elements is nobody's content. */
static void
remove_blanks(xmlNode *parent)
{
    const bool has_elements = xml_first_element(parent) != NULL;
    xmlNode *next;

    for (xmlNode *node = parent->children; node; node = next) {
        next = node->next;
        if (node->type == XML_ELEMENT_NODE) {
            remove_blanks(node);
        } else if (has_elements && xmlIsBlankNode(node)) {
            xmlUnlinkNode(node);
            xmlFreeNode(node);
        }
    }
}

/* Return: a document with a copy of the element as its root, owned by the caller. */
static xmlDoc *
bare_copy(const xmlNode *element)
{
    xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
    xmlNode *copy = xmlDocCopyNode((xmlNode *)element, doc, 1);

    if (!doc || !copy)
        abort();
    xmlDocSetRootElement(doc, copy);
    leave_namespace(copy);
    return doc;
}

static char *
format(xmlDoc *doc)
{
    xmlBuffer *buffer = xmlBufferCreate();
    char *text;

    if (!buffer || xmlNodeDump(buffer, doc, xmlDocGetRootElement(doc), 0, 0) < 0)
        abort();
    text = xstrdup((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    return text;
}

char *
request_format(const xmlNode *element)
{
    cleanup_xml xmlDoc *doc = bare_copy(element);

    return format(doc);
}

/* Return: the same for each two that are the same, owned by the caller (free). */
static char *
canonical(const xmlNode *element)
{
    cleanup_xml xmlDoc *doc = bare_copy(element);
    xmlNode *root = xmlDocGetRootElement(doc);

    xmlUnsetProp(root, (const xmlChar *)"smbios-was");
    remove_blanks(root);
    return format(doc);
}

bool
request_is_same(const xmlNode *one, const xmlNode *other)
{
    cleanup_free char *text = one ? canonical(one) : NULL;
    cleanup_free char *other_text = other ? canonical(other) : NULL;

    return text && other_text ? strcmp(text, other_text) == 0 : one == other;
}
