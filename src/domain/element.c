/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "domain/element.h"
#include "domain/part.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

xmlNode *
element_add(xmlNode *parent, const char *name)
{
    return xchecked(xmlNewChild(parent, parent->ns, (const xmlChar *)name, NULL));
}

xmlNode *
element_ensure(xmlNode *parent, const char *name)
{
    xmlNode *node = vocabulary_child(parent, name);

    return node ? node : element_add(parent, name);
}

xmlNode *
element_add_text(xmlNode *parent, const char *name, const char *text)
{
    xmlNode *node = element_add(parent, name);
    const xmlChar *content = (const xmlChar *)text;

    /* A carriage return must be a character reference, which CDATA cannot contain. The
     * hook takes the first "</metadata>" for the end of it (host/domain-text.h). */
    if (strpbrk(text, "\n<>&") && !strchr(text, '\r') && !strstr(text, "</metadata"))
        xmlAddChild(node,
                    xchecked(xmlNewCDataBlock(parent->doc, content, xmlStrlen(content))));
    else if (*text)
        xmlAddChild(node, xchecked(xmlNewDocText(parent->doc, content)));
    return node;
}

bool
element_can_hold(const char *data, size_t size)
{
    if (size == 0)
        return true;
    if (strlen(data) != size || !xmlCheckUTF8((const unsigned char *)data))
        return false;
    for (const unsigned char *at = (const unsigned char *)data; *at; at++) {
        if (*at < ' ' && !strchr("\t\n\r", *at))
            return false;
        /* U+FFFE and U+FFFF */
        if (at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe)
            return false;
    }
    return true;
}

/* parts_add() would take this for an editor's indentation. */
static bool
would_be_trimmed(const char *text, size_t size)
{
    size_t end = size;

    if (text[strspn(text, " \t")] == '\n')
        return true;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t'))
        end--;
    return end < size && (end == 0 || text[end - 1] == '\n');
}

xmlNode *
element_add_data(xmlNode *parent, const char *name, const char *data, size_t size)
{
    cleanup_buffer struct buffer encoded = {0};
    xmlNode *node;

    if (size == 0)
        return element_add(parent, name);
    if (element_can_hold(data, size) && !strchr(data, '\r') &&
        !would_be_trimmed(data, size))
        return element_add_text(parent, name, data);
    base64_encode(&encoded, data, size, BASE64_MIME_LINE);
    /* A single line is in that of the element. */
    if (strchr(encoded.data, '\n') == encoded.data + encoded.size - 1)
        encoded.data[--encoded.size] = '\0';
    node = element_add(parent, name);
    xml_set_attribute(node, "encoding", "base64");
    xmlAddChild(node,
                xchecked(xmlNewDocText(parent->doc, (const xmlChar *)encoded.data)));
    return node;
}

char *
element_format(const xmlDoc *doc)
{
    cleanup_free char *text = xml_format_node(xmlDocGetRootElement(doc), true);

    return xasprintf("%s\n", text);
}
