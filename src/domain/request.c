/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "domain/guest-value.h"
#include "domain/request.h"
#include "domain/xml.h"

xmlNode *
request_find(const struct domain *domain)
{
    return vocabulary_child(xml_child(domain->root, "metadata"), "cloud-init");
}

char *
request_hostname(const struct request *request)
{
    const struct domain *domain = request->domain;

    if (request->hostname)
        return xstrdup(request->hostname);
    return hostname_from_domain(domain->name, domain->uuid, false);
}

const struct datasource *
datasource_find_label(const char *label)
{
    for (const struct datasource *row = datasources; row->name; row++) {
        if (strcasecmp(row->label, label) == 0)
            return row;
    }
    return NULL;
}

const char *
request_serial(const struct request *request)
{
    const struct datasource *datasource = request->datasource;

    if (request->payload)
        datasource = datasource_find_label(request->payload->label);
    return datasource ? datasource->serial : NULL;
}

bool
request_wants_report(const struct request *request)
{
    return request->report && !request->payload && !request->raw &&
           !domain_is_windows(request->domain);
}

void
request_keep_identity(struct request *request)
{
    texts_free(steal(request->ssh_keys), request->ssh_key_count);
    request->ssh_key_count = 0;
    for (size_t i = 0; i < request->meta_data_count; i++) {
        free(request->meta_data[i].key);
        free(request->meta_data[i].value);
    }
    free(steal(request->meta_data));
    request->meta_data_count = 0;
    free(steal(request->instance_type));
    network_free(steal(request->network));
    initialization_free(steal(request->initialization));
    parts_clear(&request->parts);
    if (request->payload)
        seed_clear(request->payload);
    free(steal(request->payload));
}

void
request_clear(struct request *request)
{
    request_keep_identity(request);
    free(request->hostname);
    free(request->instance_id);
    *request = (struct request){0};
}

/* --- the element ---------------------------------------------------------------------- */

xmlDoc *
request_new(void)
{
    xmlDoc *doc = xchecked(xmlNewDoc((const xmlChar *)"1.0"));
    xmlNode *root =
        xchecked(xmlNewDocNode(doc, NULL, (const xmlChar *)"cloud-init", NULL));

    xmlDocSetRootElement(doc, root);
    root->ns = xchecked(
        xmlNewNs(root, (const xmlChar *)REQUEST_NAMESPACE, (const xmlChar *)"ci"));
    return doc;
}

xmlNode *
request_insert(const struct domain *domain, const xmlNode *element)
{
    xmlNode *metadata = xml_child(domain->root, "metadata");
    xmlNode *name = xml_child(domain->root, "name");
    xmlNode *copy = xchecked(xmlDocCopyNode((xmlNode *)element, domain->root->doc, 1));

    if (!metadata && name)
        metadata = xml_add_after(name, "metadata");
    else if (!metadata)
        metadata = xml_add_child(domain->root, "metadata");
    return xml_insert_child(metadata, copy);
}

/* --- as text ---------------------------------------------------------------------- */

static void
leave_namespace(xmlNode *node)
{
    xml_foreach_element(child, node)
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

static const char *const notes[] = {REQUEST_NOTES};

void
request_keep_notes(xmlNode *element, const xmlNode *old)
{
    for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
        cleanup_free char *note = old ? xml_attribute(old, notes[i]) : NULL;

        xmlUnsetProp(element, (const xmlChar *)notes[i]);
        if (note)
            xml_set_attribute(element, notes[i], note);
    }
}

/* Return: the element as text without our namespace, owned by the caller (free). Requests
 * for the same have the same canonical form. */
static char *
format(const xmlNode *element, bool canonical)
{
    cleanup_xml xmlDoc *doc = xchecked(xmlNewDoc((const xmlChar *)"1.0"));
    xmlNode *copy = xchecked(xmlDocCopyNode((xmlNode *)element, doc, 1));

    xmlDocSetRootElement(doc, copy);
    leave_namespace(copy);
    if (canonical) {
        for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
            xmlUnsetProp(copy, (const xmlChar *)notes[i]);
        remove_blanks(copy);
    }
    return xml_format_node(copy, false);
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
