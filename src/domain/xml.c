/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <libxml/parser.h>

#include "domain/xml.h"

/* --- documents -------------------------------------------------------------------- */

/* const since libxml2 2.12 */
#if LIBXML_VERSION < 21200
typedef xmlError reported_error;
#else
typedef const xmlError reported_error;
#endif

/* Keeps the first error; later ones are often its consequences. */
static void
keep_first_error(void *context, reported_error *error)
{
    xmlError *first = context;

    if (first->level == XML_ERR_NONE && error->level >= XML_ERR_ERROR)
        xmlCopyError(error, first);
}

/* The data left to read. If it were given the memory itself, libxml2 would copy it. */
struct source {
    const char *data;
    size_t size;
};

static int
source_read(void *context, char *buffer, int length)
{
    struct source *source = context;
    size_t count = source->size < (size_t)length ? source->size : (size_t)length;

    memcpy(buffer, source->data, count);
    source->data += count;
    source->size -= count;
    return (int)count;
}

/* libxml2 drops the line ends after the root element; virsh dumpxml writes two. */
static void
keep_last_lines(xmlDoc *doc, const char *data, size_t size)
{
    size_t start = size;

    while (data[start - 1] == '\n')
        start--;
    xmlAddChild((xmlNode *)doc,
                xmlNewDocTextLen(doc, BAD_CAST data + start, (int)(size - start)));
}

xmlDoc *
xml_parse(const char *data, size_t size, const char *origin, struct failure **failure)
{
    const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                        XML_PARSE_BIG_LINES | XML_PARSE_COMPACT;
    struct source source = {data, size};
    __attribute__((cleanup(xmlResetError))) xmlError error = {0};
    cleanup_xml xmlDoc *doc = NULL;
    xmlParserCtxt *parser;

    if (size > LIMIT_DOMAIN_XML) {
        failure_set(failure, FAILURE_LIMIT,
                    "%s is larger than %lu MiB\n"
                    "put large documents into files or secrets",
                    origin, LIMIT_DOMAIN_XML / MIB);
        return NULL;
    }
    if (size == 0 || strspn(data, " \t\r\n") == size) {
        failure_set(failure, FAILURE_XML,
                    "%s is empty, expected a domain's XML\n"
                    "use the output of 'virsh dumpxml DOMAIN'",
                    origin);
        return NULL;
    }
    xmlSetStructuredErrorFunc(&error, keep_first_error);
    parser = xchecked(xmlNewParserCtxt());
    doc = xmlCtxtReadIO(parser, source_read, NULL, &source, NULL, NULL, options);
    xmlFreeParserCtxt(parser);
    xmlSetStructuredErrorFunc(NULL, NULL);
    if (!doc) {
        const char *reason = error.message ? error.message : "reason unknown";
        const char *hint = "fix it, or get it again with 'virsh dumpxml --inactive "
                           "--security-info DOMAIN'";

        if (error.code == XML_ERR_DOCUMENT_END)
            hint = "give one document; virt-install prints the definition alone with "
                   "--print-xml 2";
        failure_set_at(failure, FAILURE_XML, error.line,
                       "%s is not well-formed XML: line %d: %.*s\n%s", origin, error.line,
                       (int)strcspn(reason, "\r\n"), reason, hint);
        return NULL;
    }
    if (doc->intSubset) {
        failure_set(failure, FAILURE_XML,
                    "%s has a document type declaration\n"
                    "remove the <!DOCTYPE …>: domains have none",
                    origin);
        return NULL;
    }
    keep_last_lines(doc, data, size);
    return steal(doc);
}

char *
xml_format_node(const xmlNode *node, bool indent)
{
    xmlBuffer *buffer = xmlBufferCreate();
    char *text;

    if (!buffer || xmlNodeDump(buffer, node->doc, (xmlNode *)node, 0, indent) < 0)
        abort();
    text = xstrdup((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    return text;
}

/* --- looking around --------------------------------------------------------------- */

static xmlNode *
find_named(xmlNode *node, const char *name)
{
    for (; node; node = node->next) {
        if (node->type != XML_ELEMENT_NODE || node->ns)
            continue;
        if (strcmp((const char *)node->name, name) == 0)
            break;
    }
    return node;
}

xmlNode *
xml_child(const xmlNode *parent, const char *name)
{
    return parent ? find_named(parent->children, name) : NULL;
}

xmlNode *
xml_next(const xmlNode *node, const char *name)
{
    return node ? find_named(node->next, name) : NULL;
}

xmlNode *
xml_first_element(const xmlNode *parent)
{
    return xmlFirstElementChild((xmlNode *)parent);
}

xmlNode *
xml_next_element(const xmlNode *node)
{
    return xmlNextElementSibling((xmlNode *)node);
}

xmlNode *
xml_next_below(const xmlNode *node, const xmlNode *top)
{
    xmlNode *next = xml_first_element(node);

    while (!next && node != top) {
        next = xml_next_element(node);
        node = node->parent;
    }
    return next;
}

bool
xml_is_in(const xmlNode *node, const char *space, const char *name)
{
    return node->ns && strcmp((const char *)node->ns->href, space) == 0 &&
           strcmp((const char *)node->name, name) == 0;
}

xmlNode *
xml_child_in(const xmlNode *parent, const char *space, const char *name)
{
    xmlNode *node = xml_first_element(parent);

    while (node && !xml_is_in(node, space, name))
        node = xml_next_element(node);
    return node;
}

/* libxml2 allocates with malloc(), so free() releases its text. */
char *
xml_attribute(const xmlNode *node, const char *name)
{
    return (char *)xmlGetNoNsProp(node, (const xmlChar *)name);
}

char *
xml_text(const xmlNode *node)
{
    char *text = (char *)xmlNodeGetContent(node);

    return text ? text : xstrdup("");
}

const char *
xml_single_text(const xmlNode *node)
{
    const xmlNode *child = node->children;

    if (!child || child->next)
        return NULL;
    if (child->type != XML_TEXT_NODE && child->type != XML_CDATA_SECTION_NODE)
        return NULL;
    return (const char *)child->content;
}

bool
xml_attribute_is(const xmlNode *node, const char *name, const char *value)
{
    cleanup_free char *found = xml_attribute(node, name);

    return found && strcmp(found, value) == 0;
}

long
xml_attribute_number(const xmlNode *node, const char *name, long maximum)
{
    cleanup_free char *text = xml_attribute(node, name);
    char *end;
    long number;

    if (!text || !isdigit((unsigned char)*text))
        return -1;
    errno = 0;
    number = strtol(text, &end, 10);
    return errno || *end || number > maximum ? -1 : number;
}

void
xml_set_attribute(xmlNode *node, const char *name, const char *value)
{
    xchecked(xmlSetProp(node, (const xmlChar *)name, (const xmlChar *)value));
}

int
xml_line(const xmlNode *node)
{
    long line = xmlGetLineNo(node);

    return line > 0 && line < INT_MAX ? (int)line : 0;
}

/* --- changing --------------------------------------------------------------------- */

static bool
is_blank(const xmlNode *node)
{
    return node && xmlIsBlankNode(node);
}

static xmlNode *
new_element(xmlDoc *doc, const char *name)
{
    return xchecked(xmlNewDocNode(doc, NULL, (const xmlChar *)name, NULL));
}

/* Return: the comment after the element in the same line, or the element. */
static xmlNode *
last_of_line(xmlNode *node)
{
    xmlNode *next = node->next;

    if (is_blank(next) && !strchr((const char *)next->content, '\n'))
        next = next->next;
    return next && next->type == XML_COMMENT_NODE ? next : node;
}

xmlNode *
xml_add_after(xmlNode *sibling, const char *name)
{
    xmlNode *blank = is_blank(sibling->prev) ? xmlCopyNode(sibling->prev, 0) : NULL;
    xmlNode *node = new_element(sibling->doc, name);

    xmlAddNextSibling(last_of_line(sibling), node);
    if (blank)
        xmlAddPrevSibling(node, blank);
    return node;
}

xmlNode *
xml_add_child(xmlNode *parent, const char *name)
{
    xmlNode *last = xmlLastElementChild(parent);
    xmlNode *node;

    if (last)
        return xml_add_after(last, name);
    node = new_element(parent->doc, name);
    if (is_blank(parent->last))
        return xmlAddPrevSibling(parent->last, node);
    /* Indent a first child two columns more than its parent. */
    if (!parent->children && is_blank(parent->prev)) {
        cleanup_free char *outer = xml_text(parent->prev);
        cleanup_free char *inner = xasprintf("%s  ", outer);

        xmlAddChild(parent, xmlNewDocText(parent->doc, (xmlChar *)inner));
        xmlAddChild(parent, node);
        xmlAddChild(parent, xmlNewDocText(parent->doc, (xmlChar *)outer));
        return node;
    }
    return xmlAddChild(parent, node);
}

xmlNode *
xml_insert_child(xmlNode *parent, xmlNode *node)
{
    xmlNode *placeholder = xml_add_child(parent, "placeholder");

    xmlReplaceNode(placeholder, node);
    xmlFreeNode(placeholder);
    return node;
}

void
xml_remove(xmlNode *node)
{
    xmlNode *before = node->prev;

    if (is_blank(before)) {
        xmlUnlinkNode(before);
        xmlFreeNode(before);
    }
    xmlUnlinkNode(node);
    xmlFreeNode(node);
}
