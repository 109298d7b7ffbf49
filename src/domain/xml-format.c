/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libvirt writes a domain's elements itself, and has libxml2 write those in
 * <metadata>. The two forms differ in quotes, in what they escape, and in the order of
 * attributes and namespaces. White space between elements is written as it was read.
 *
 * What libvirt makes of the same document has neither comments, CDATA sections, processing
 * instructions nor references to characters outside <metadata> (virBufferEscapeString).
 */
#include "config.h"

#include "domain/xml.h"

struct form {
    char quote;
    const char *text;  /* what is escaped in text */
    const char *value; /* and in the value of an attribute */
    /* Of what libvirt itself would write, in which only elements and text are left; NULL:
     * the document stays the same. */
    struct lines *lines;
};

struct lines {
    int number;     /* of the last line */
    size_t counted; /* bytes of the result */
};

static const struct form libvirt_form = {'\'', "<>&\"'\r", "<>&\"'\t\n\r", NULL};
static const struct form metadata_form = {'"', "<>&\r", "<>&\"\t\n\r", NULL};

static void
write_escaped(struct buffer *result, const char *content, const char *special)
{
    static const char *const entities[] = {
        ['<'] = "lt", ['>'] = "gt", ['&'] = "amp", ['"'] = "quot", ['\''] = "apos"};

    for (;; content++) {
        const size_t length = strcspn(content, special);
        const unsigned char found = (unsigned char)content[length];

        buffer_append(result, content, length);
        content += length;
        if (!found)
            return;
        if (entities[found])
            buffer_printf(result, "&%s;", entities[found]);
        else
            buffer_printf(result, "&#%d;", found);
    }
}

/* --- start tags --------------------------------------------------------------------- */

static void
write_name(struct buffer *result, const xmlNs *ns, const xmlChar *name)
{
    if (ns && ns->prefix)
        buffer_printf(result, "%s:", ns->prefix);
    buffer_append_string(result, (const char *)name);
}

static void
write_value(struct buffer *result, const char *value, const char *special, char quote)
{
    buffer_printf(result, "=%c", quote);
    write_escaped(result, value, special);
    buffer_append(result, &quote, 1);
}

static void
write_namespaces(struct buffer *result, const xmlNode *node, const struct form *form)
{
    for (const xmlNs *ns = node->nsDef; ns; ns = ns->next) {
        const char *name = ns->href ? (const char *)ns->href : "";

        buffer_append_string(result, " xmlns");
        if (ns->prefix)
            buffer_printf(result, ":%s", ns->prefix);
        /* libxml2 before 2.13 keeps '&' in the name of a namespace as "&#38;". */
        write_value(result, name, strstr(name, "&#38;") ? "<>\"'\t\n\r" : form->value,
                    form->quote);
    }
}

static void
write_attributes(struct buffer *result, const xmlNode *node, const struct form *form)
{
    for (const xmlAttr *attribute = node->properties; attribute;
         attribute = attribute->next) {
        cleanup_free char *value = xml_text((const xmlNode *)attribute);

        buffer_append_string(result, " ");
        write_name(result, attribute->ns, attribute->name);
        write_value(result, value, form->value, form->quote);
    }
}

/* --- nodes -------------------------------------------------------------------------- */

static void write_node(struct buffer *result, const xmlNode *node,
                       const struct form *form);

/* Adds the line ends that were in tags and comments before the element. */
static void
keep_line(struct buffer *result, const xmlNode *node, struct lines *lines)
{
    for (; lines->counted < result->size; lines->counted++)
        lines->number += result->data[lines->counted] == '\n';
    for (; lines->number < xml_line(node); lines->number++) {
        buffer_append(result, "\n", 1);
        lines->counted++;
    }
}

static void
write_element(struct buffer *result, const xmlNode *node, const struct form *form)
{
    const bool is_metadata = node->parent == xmlDocGetRootElement(node->doc) &&
                             xmlStrEqual(node->name, BAD_CAST "metadata");

    if (form->lines)
        keep_line(result, node, form->lines);
    if (is_metadata)
        form = &metadata_form;
    buffer_append_string(result, "<");
    write_name(result, node->ns, node->name);
    if (form == &metadata_form)
        write_namespaces(result, node, form);
    write_attributes(result, node, form);
    if (form != &metadata_form)
        write_namespaces(result, node, form);
    if (!node->children) {
        buffer_append_string(result, "/>");
        return;
    }
    buffer_append_string(result, ">");
    for (const xmlNode *child = node->children; child; child = child->next)
        write_node(result, child, form);
    buffer_append_string(result, "</");
    write_name(result, node->ns, node->name);
    buffer_append_string(result, ">");
}

/* Adjacent CDATA sections are one node, so that it may contain "]]>". */
static void
write_cdata(struct buffer *result, const char *content)
{
    const char *end;

    buffer_append_string(result, "<![CDATA[");
    while ((end = strstr(content, "]]>"))) {
        buffer_append(result, content, (size_t)(end - content) + 2);
        buffer_append_string(result, "]]><![CDATA[");
        content = end + 2;
    }
    buffer_printf(result, "%s]]>", content);
}

/* Writes what libvirt reads of a node outside <metadata>, which is no text beside
 * elements. */
static void
write_node_as_libvirt(struct buffer *result, const xmlNode *node, const struct form *form)
{
    if (node->type == XML_ELEMENT_NODE)
        write_element(result, node, form);
    if (node->type != XML_TEXT_NODE && node->type != XML_CDATA_SECTION_NODE)
        return;
    if (node->content && (!xml_first_element(node->parent) || xmlIsBlankNode(node)))
        write_escaped(result, (const char *)node->content, form->text);
}

/* A document that xml_parse() accepts has no nodes of other types. */
static void
write_node(struct buffer *result, const xmlNode *node, const struct form *form)
{
    const char *content = node->content ? (const char *)node->content : "";

    if (form->lines)
        write_node_as_libvirt(result, node, form);
    else if (node->type == XML_ELEMENT_NODE)
        write_element(result, node, form);
    else if (node->type == XML_TEXT_NODE)
        write_escaped(result, content, form->text);
    else if (node->type == XML_CDATA_SECTION_NODE)
        write_cdata(result, content);
    else if (node->type == XML_COMMENT_NODE)
        buffer_printf(result, "<!--%s-->", content);
    else if (node->type == XML_PI_NODE)
        buffer_printf(result, "<?%s%s%s?>", node->name, *content ? " " : "", content);
}

char *
xml_format(const xmlDoc *doc)
{
    struct buffer result = {0};

    /* libxml2's -1: there was no declaration. */
    if (doc->standalone != -1)
        buffer_append_string(&result, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for (const xmlNode *node = doc->children; node; node = node->next) {
        write_node(&result, node, &libvirt_form);
        if (node->next && node->next->type != XML_TEXT_NODE)
            buffer_append_string(&result, "\n");
    }
    return result.data;
}

struct buffer
xml_format_as_libvirt(const xmlNode *root)
{
    struct lines lines = {.number = 1};
    const struct form form = {'\'', "<>&\"'", "<>&\"'", &lines};
    struct buffer result = {0};

    write_node(&result, root, &form);
    return result;
}
