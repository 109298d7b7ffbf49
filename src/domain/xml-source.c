/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a document that was just parsed has the nodes of its text in the same
 * order. xml_source_mark() numbers them, in the member of a node that libxml2 leaves to
 * applications; a node that is added later has no number. To edit the text, it is parsed
 * again, and each node of that second, unchanged document finds its place in the text.
 * Then the changed document is written: a node with a number is copied from its place,
 * and only what is new, or differs from the unchanged node, is formatted.
 *
 * Finding the places relies on little, since the text is known to be well-formed; and
 * what went wrong nevertheless shows when the result is compared with the document.
 */
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/c14n.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "base/memory.h"
#include "domain/xml-source.h"
#include "domain/xml.h"

#define BLANKS " \t\r\n"

/* --- numbers ------------------------------------------------------------------------ */

static uintptr_t
mark(xmlNode *node, uintptr_t count)
{
    /* A number, which nobody follows. */
    node->_private = (void *)++count; /* NOLINT(performance-no-int-to-ptr) */
    if (node->type == XML_ELEMENT_NODE) {
        for (xmlNode *child = node->children; child; child = child->next)
            count = mark(child, count);
    }
    return count;
}

void
xml_source_mark(xmlDoc *doc)
{
    mark(xmlDocGetRootElement(doc), 0);
}

/* --- reading the text --------------------------------------------------------------- */

struct text {
    const char *data; /* ends with a NUL */
    size_t size;
    size_t at; /* how far it is read */
};

static const struct section {
    xmlElementType type;
    const char *begin;
    const char *end;
} sections[] = {
    {XML_COMMENT_NODE, "<!--", "-->"},
    {XML_PI_NODE, "<?", "?>"},
    {XML_CDATA_SECTION_NODE, "<![CDATA[", "]]>"},
};

static bool
is_at(const struct text *text, const char *word)
{
    return strncmp(text->data + text->at, word, strlen(word)) == 0;
}

static bool
skip_past(struct text *text, const char *word)
{
    const char *found = strstr(text->data + text->at, word);

    if (found)
        text->at = (size_t)(found - text->data) + strlen(word);
    return found;
}

static const struct section *
find_section(const struct text *text)
{
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
        if (is_at(text, sections[i].begin))
            return &sections[i];
    }
    return NULL;
}

static bool
skip_section(struct text *text, const struct section *section)
{
    text->at += strlen(section->begin);
    return skip_past(text, section->end);
}

/* Moves past a start tag; a value may contain '>'. */
static bool
skip_tag(struct text *text)
{
    char quote = '\0';

    for (; text->at < text->size; text->at++) {
        char c = text->data[text->at];

        if (quote) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '>') {
            text->at++;
            return true;
        }
    }
    return false;
}

size_t
xml_source_next(const char *text)
{
    struct text rest = {text, strlen(text), 0};
    size_t depth = 0;
    bool complete = false;

    while (skip_past(&rest, "<")) {
        const struct section *section;
        bool found;

        rest.at--;
        section = find_section(&rest);
        if (complete && (!section || is_at(&rest, "<?xml ")))
            return rest.at;
        if (section) {
            found = skip_section(&rest, section);
        } else if (is_at(&rest, "</")) {
            found = skip_past(&rest, ">") && depth > 0;
            depth--;
        } else {
            found = skip_tag(&rest);
            depth += found && text[rest.at - 2] != '/';
        }
        if (!found)
            break;
        complete = complete || (depth == 0 && !section);
    }
    return rest.size;
}

/* --- the places of the nodes -------------------------------------------------------- */

struct place {
    const xmlNode *node; /* in the unchanged document */
    size_t start;
    size_t open_end;    /* of an element: the end of its start tag */
    size_t close_start; /* and the start of its end tag */
    size_t end;
};

static size_t
number_of(const xmlNode *node)
{
    return (size_t)(uintptr_t)node->_private;
}

/* Finds the places of the node, which is next in the text, and of those in it.
 * Return: whether the text has such a node. */
static bool
find_places(struct text *text, const xmlNode *node, struct place *places)
{
    struct place *place = &places[number_of(node)];
    const struct section *section = find_section(text);

    place->node = node;
    place->start = text->at;
    if (node->type == XML_TEXT_NODE) {
        text->at += strcspn(text->data + text->at, "<");
    } else if (node->type == XML_ELEMENT_NODE) {
        if (section || !is_at(text, "<") || !skip_tag(text))
            return false;
        place->open_end = place->close_start = text->at;
        if (text->data[text->at - 2] != '/') {
            for (const xmlNode *child = node->children; child; child = child->next) {
                if (!find_places(text, child, places))
                    return false;
            }
            place->close_start = text->at;
            if (!is_at(text, "</") || !skip_past(text, ">"))
                return false;
        }
    } else {
        /* libxml2 makes one node of adjacent CDATA sections. */
        do {
            if (!section || section->type != node->type || !skip_section(text, section))
                return false;
        } while (node->type == XML_CDATA_SECTION_NODE && is_at(text, section->begin));
    }
    place->end = text->at;
    return place->end > place->start;
}

/* Moves to the root element, past the declaration, comments and instructions. */
static bool
skip_prolog(struct text *text)
{
    const struct section *section;

    while (skip_past(text, "<")) {
        text->at--;
        section = find_section(text);
        if (!section)
            return true;
        if (!skip_section(text, section))
            return false;
    }
    return false;
}

/* --- writing ------------------------------------------------------------------------ */

struct edit {
    const char *source;
    const struct place *places; /* by the nodes' numbers, from 1 on */
    bool crlf;                  /* the line ends of the text */
    struct buffer *result;
};

static void
copy(struct edit *edit, size_t start, size_t end)
{
    buffer_append(edit->result, edit->source + start, end - start);
}

/* Writes a node that the text does not have, with the text's line ends. */
static void
write_new(struct edit *edit, xmlNode *node)
{
    cleanup_free char *text = xml_format_node(node, false);
    const char *line = text;

    while (edit->crlf && strchr(line, '\n')) {
        size_t length = strcspn(line, "\n");

        buffer_append(edit->result, line, length);
        buffer_append_string(edit->result, "\r\n");
        line += length + 1;
    }
    buffer_append_string(edit->result, line);
}

/* --- start tags --------------------------------------------------------------------- */

static const xmlAttr *
find_attribute(const xmlNode *node, const xmlAttr *like)
{
    const xmlAttr *attribute = node->properties;

    while (attribute && !(xmlStrEqual(attribute->name, like->name) &&
                          xmlStrEqual(attribute->ns ? attribute->ns->href : NULL,
                                      like->ns ? like->ns->href : NULL)))
        attribute = attribute->next;
    return attribute;
}

static void
write_value(struct edit *edit, const char *value, char quote)
{
    buffer_append(edit->result, &quote, 1);
    for (; *value; value++) {
        if (*value == quote || strchr("&<\t\r\n", *value))
            buffer_printf(edit->result, "&#%d;", *value);
        else
            buffer_append(edit->result, value, 1);
    }
    buffer_append(edit->result, &quote, 1);
}

/* Writes the start tag up to `end`, which is before its "/>" or ">". */
static bool
write_tag(struct edit *edit, const struct place *place, const xmlNode *node, size_t end)
{
    const char *source = edit->source;
    const xmlAttr *was = place->node->properties;
    size_t at = place->start + strcspn(source + place->start, BLANKS "/>");
    char quote = '"';

    copy(edit, place->start, at);
    for (;;) {
        const size_t start = at;
        const size_t name = at + strspn(source + at, BLANKS);
        const size_t value = name + strcspn(source + name, "\"'");
        const bool declares = strncmp(source + name, "xmlns", 5) == 0 &&
                              strchr(BLANKS ":=", source[name + 5]);
        const xmlAttr *now = was && !declares ? find_attribute(node, was) : NULL;
        const char *closed;

        if (name >= end)
            break;
        quote = source[value];
        closed = value < end ? strchr(source + value + 1, quote) : NULL;
        if (!closed || (!was && !declares))
            return false;
        at = (size_t)(closed - source) + 1;
        if (declares) {
            copy(edit, start, at);
            continue;
        }
        if (now) {
            cleanup_free char *before = xml_text((const xmlNode *)was);
            cleanup_free char *after = xml_text((const xmlNode *)now);
            bool same = strcmp(before, after) == 0;

            copy(edit, start, same ? at : value);
            if (!same)
                write_value(edit, after, quote);
        }
        was = was->next;
    }
    for (const xmlAttr *now = node->properties; now; now = now->next) {
        cleanup_free char *text = xml_text((const xmlNode *)now);

        if (find_attribute(place->node, now))
            continue;
        buffer_printf(edit->result, " %s%s%s=", now->ns ? (char *)now->ns->prefix : "",
                      now->ns ? ":" : "", now->name);
        write_value(edit, text, quote);
    }
    copy(edit, at, end);
    return true;
}

/* --- nodes -------------------------------------------------------------------------- */

static bool write_node(struct edit *edit, xmlNode *node);

static bool
write_element(struct edit *edit, const struct place *place, xmlNode *node)
{
    const bool empty = place->open_end == place->end; /* "<name/>" */
    const size_t tag_end = place->open_end - (empty ? 2 : 1);
    const char *prefix =
        node->ns && node->ns->prefix ? (const char *)node->ns->prefix : NULL;

    if (!write_tag(edit, place, node, tag_end))
        return false;
    if (!node->children) {
        if (place->node->children)
            buffer_append_string(edit->result, "/>");
        else
            copy(edit, tag_end, place->end);
        return true;
    }
    buffer_append_string(edit->result, ">");
    for (xmlNode *child = node->children; child; child = child->next) {
        if (!write_node(edit, child))
            return false;
    }
    if (empty)
        buffer_printf(edit->result, "</%s%s%s>", prefix ? prefix : "", prefix ? ":" : "",
                      node->name);
    else
        copy(edit, place->close_start, place->end);
    return true;
}

/* Return: whether that could be done. */
static bool
write_node(struct edit *edit, xmlNode *node)
{
    const size_t number = number_of(node);
    const struct place *place = &edit->places[number];

    if (number > 0 && node->type == XML_ELEMENT_NODE)
        return write_element(edit, place, node);
    if (number > 0 && xmlStrEqual(node->content, place->node->content))
        copy(edit, place->start, place->end);
    else
        write_new(edit, node);
    return true;
}

/* --- the whole text ----------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3)))
ignore_error(void *context, const char *format, ...)
{
    (void)context;
    (void)format;
}

/* Return: the document's canonical form, owned by the caller (free), or NULL. */
static char *
canonical(xmlDoc *doc)
{
    xmlChar *form = NULL;

    /* Otherwise libxml2 prints why it cannot be done. */
    xmlSetGenericErrorFunc(NULL, ignore_error);
    if (xmlC14NDocDumpMemory(doc, NULL, XML_C14N_1_0, NULL, 1, &form) < 0)
        form = NULL;
    xmlSetGenericErrorFunc(NULL, NULL);
    return (char *)form;
}

/* Return: whether the text means the same as the document. */
static bool
means(const struct buffer *text, xmlDoc *doc)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_xml xmlDoc *parsed = xml_parse(text->data, text->size, "", &failure);
    cleanup_free char *found = parsed ? canonical(parsed) : NULL;
    cleanup_free char *expected = canonical(doc);

    return found && expected && strcmp(found, expected) == 0;
}

char *
xml_source_edit(const char *source, xmlDoc *doc, size_t *size)
{
    const char *line_end = strchr(source, '\n');
    struct text text = {source, strlen(source), 0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_xml xmlDoc *unchanged = xml_parse(source, text.size, "", &failure);
    xmlNode *root = unchanged ? xmlDocGetRootElement(unchanged) : NULL;
    cleanup_free struct place *places = NULL;
    cleanup_buffer struct buffer result = {0};
    struct edit edit = {
        .source = source,
        .crlf = line_end && line_end > source && line_end[-1] == '\r',
        .result = &result,
    };

    if (!root || !skip_prolog(&text))
        return NULL;
    /* Number 0 is that of new nodes. */
    edit.places = places = xcalloc(mark(root, 0) + 1, sizeof(*places));
    copy(&edit, 0, text.at);
    if (!find_places(&text, root, places) ||
        !write_node(&edit, xmlDocGetRootElement(doc)))
        return NULL;
    copy(&edit, text.at, text.size);
    if (!means(&result, doc))
        return NULL;
    *size = result.size;
    return steal_buffer(&result).data;
}
