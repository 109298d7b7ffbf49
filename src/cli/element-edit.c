/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/element-edit.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "import/element.h"

xmlNode *
element_find(const xmlNode *parent, const char *name)
{
    xmlNode *node = parent ? xml_first_element(parent) : NULL;

    while (node && !vocabulary_is(node, name))
        node = xml_next_element(node);
    return node;
}

xmlNode *
element_indent(xmlNode *node)
{
    xmlNode *parent = node->parent;

    xmlUnlinkNode(node);
    return xml_insert_child(parent, node);
}

xmlNode *
element_find_or_add(xmlNode *parent, const char *name)
{
    xmlNode *node = element_find(parent, name);

    return node ? node : element_indent(element_add(parent, name));
}

void
element_remove_all(xmlNode *parent, const char *name)
{
    for (xmlNode *node = element_find(parent, name); node;
         node = element_find(parent, name))
        xml_remove(node);
}

void
element_unset(xmlNode *node, const char *attribute)
{
    xmlUnsetProp(node, (const xmlChar *)attribute);
}

void
element_remove_if_empty(xmlNode *node)
{
    if (node && !xml_first_element(node) && !node->properties)
        xml_remove(node);
}
