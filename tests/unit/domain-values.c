/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See domain-values.h. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "domain-values.h"
#include "domain/xml.h"
#include "host/domain-text.h"

int
domain_values_read(struct domain_values *values, const struct buffer *xml,
                   struct failure **failure)
{
    cleanup_domain_text struct domain_text text = {0};
    struct domain_value value;
    int result = domain_text_begin(&text, xml, failure);

    if (result < 0)
        return -1;
    while ((result = domain_text_next(&text, &value, failure)) > 0)
        texts_add(&values->texts, &values->count,
                  xasprintf("%.*s %.*s %s", (int)value.parent.length, value.parent.start,
                            (int)value.element.length, value.element.start, value.text));
    return result;
}

static char *
name_of(const xmlNode *node)
{
    if (node->type != XML_ELEMENT_NODE)
        return xstrdup("");
    if (!node->ns || !node->ns->prefix)
        return xstrdup((const char *)node->name);
    return xasprintf("%s:%s", (const char *)node->ns->prefix, (const char *)node->name);
}

static void
add_value(struct domain_values *values, const xmlNode *element, const xmlNode *text)
{
    cleanup_free char *parent_name = name_of(element->parent);
    cleanup_free char *name = name_of(element);
    cleanup_free char *value = xml_text(text);

    if (text == element && !*value)
        return;
    texts_add(&values->texts, &values->count,
              xasprintf("%s %s %s", parent_name, name, value));
}

static void
walk_element(struct domain_values *values, const xmlNode *element)
{
    for (const xmlAttr *attribute = element->properties; attribute;
         attribute = attribute->next)
        add_value(values, element, (const xmlNode *)attribute);
    if (!xml_first_element(element))
        add_value(values, element, element);
}

static bool
is_for_others(const xmlNode *child)
{
    const char *name = (const char *)child->name;

    if (child->ns)
        return false;
    return strcmp(name, "metadata") == 0 || strcmp(name, "title") == 0 ||
           strcmp(name, "description") == 0;
}

void
domain_values_walk(struct domain_values *values, const xmlNode *root)
{
    walk_element(values, root);
    for (const xmlNode *child = xml_first_element(root); child;
         child = xml_next_element(child)) {
        for (const xmlNode *node = is_for_others(child) ? NULL : child; node;
             node = xml_next_below(node, child))
            walk_element(values, node);
    }
}

void
domain_values_clear(struct domain_values *values)
{
    texts_free(values->texts, values->count);
    *values = (struct domain_values){0};
}
