/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "domain/part.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "vdsm/vdsm.h"

#define PROPERTY "custom property '" PROPERTY_NAME "'"

static int
fail(const char *what, const char *hint, struct failure **failure)
{
    return failure_set(failure, FAILURE_REQUEST,
                       PROPERTY " %s\n"
                                "%s",
                       what, hint);
}

/* Return: a request for that user-data, which stays in base64. */
static xmlDoc *
request_of_user_data(const char *base64)
{
    xmlDoc *doc = request_new();
    xmlNode *root = xmlDocGetRootElement(doc);
    xmlNode *node = xmlNewTextChild(root, root->ns, (const xmlChar *)"user-data",
                                    (const xmlChar *)base64);

    if (!node ||
        !xmlNewProp(node, (const xmlChar *)"encoding", (const xmlChar *)"base64"))
        abort();
    return doc;
}

/* libxml2's message is not used: it may quote the value. */
static xmlDoc *
parse_element(const struct buffer *text, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    cleanup_xml xmlDoc *doc = xml_parse(text->data, text->size, PROPERTY, &reason);

    if (!doc) {
        failure_set(failure, reason->code,
                    PROPERTY
                    " is not well-formed XML (line %d)\n"
                    "encode only the <cloud-init> element, with its namespace and "
                    "without a document type",
                    reason->line);
        return NULL;
    }
    if (!vocabulary_is(xmlDocGetRootElement(doc), "cloud-init")) {
        fail("is not a <cloud-init> element in virt-seed's namespace",
             "use the namespace \"" REQUEST_NAMESPACE "\"; see virt-seed-xml(5)",
             failure);
        return NULL;
    }
    return steal(doc);
}

/* Return: a document with the request as its root, owned by the caller, or NULL. */
static xmlDoc *
read_value(const char *value, struct failure **failure)
{
    cleanup_buffer struct buffer text = {0};
    const char *begin;

    if (base64_decode(&text, value) < 0) {
        fail("is not base64",
             "encode the element or the user-data with 'base64 -w0 FILE'", failure);
        return NULL;
    }
    begin = text.data + strspn(text.data, " \t\r\n");
    /* The first word decides, as in cloud-init. */
    if (*begin == '#' || strncasecmp(begin, "content-type:", 13) == 0 ||
        strncasecmp(begin, "mime-version:", 13) == 0)
        return request_of_user_data(value);
    if (*begin == '<')
        return parse_element(&text, failure);
    fail("is neither XML nor user-data",
         "encode a <cloud-init> element, or user-data that begins with '#' or a MIME "
         "header",
         failure);
    return NULL;
}

int
property_write(struct domain *domain, const char *value, struct failure **failure)
{
    cleanup_xml xmlDoc *doc = read_value(value, failure);
    const xmlNode *present = request_find(domain);
    const xmlNode *element;

    if (!doc)
        return -1;
    element = xmlDocGetRootElement(doc);
    if (!present)
        request_insert(domain, element);
    else if (!request_is_same(present, element))
        return fail("asks for another seed than the <cloud-init> in <metadata>",
                    "keep one of them: a guest can have only one seed", failure);
    return 0;
}
