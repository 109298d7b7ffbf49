/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

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

/* Return: the element as text without our namespace, owned by the caller (free). In the
 * canonical form two that ask for the same are the same. */
static char *
format(const xmlNode *element, bool canonical)
{
    cleanup_xml xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
    xmlNode *copy = xmlDocCopyNode((xmlNode *)element, doc, 1);
    xmlBuffer *buffer = xmlBufferCreate();
    char *text;

    if (!doc || !copy || !buffer)
        abort();
    xmlDocSetRootElement(doc, copy);
    leave_namespace(copy);
    if (canonical) {
        xmlUnsetProp(copy, (const xmlChar *)"smbios-was");
        remove_blanks(copy);
    }
    if (xmlNodeDump(buffer, doc, copy, 0, 0) < 0)
        abort();
    text = xstrdup((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    return text;
}

char *
request_format(const xmlNode *element)
{
    return format(element, false);
}

bool
request_is_same(const xmlNode *one, const xmlNode *other)
{
    cleanup_free char *text = one ? format(one, true) : NULL;
    cleanup_free char *other_text = other ? format(other, true) : NULL;

    return text && other_text ? strcmp(text, other_text) == 0 : one == other;
}
