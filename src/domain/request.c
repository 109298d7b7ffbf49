/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: each element that may stand below <cloud-init> has a row in a table,
 * with the function that reads it and the attributes it may have. What has no row is an
 * error.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/hostname.h"
#include "domain/request.h"
#include "domain/ssh-key.h"
#include "domain/xml.h"

struct element {
    const char *name;
    int (*read)(struct request *request, const xmlNode *node, struct failure **failure);
    const char *attributes[5]; /* ends with NULL */
};

static bool
is_ours(const xmlNode *node)
{
    return node->ns && strcmp((const char *)node->ns->href, REQUEST_NAMESPACE) == 0;
}

static bool
is_element(const xmlNode *node, const char *name)
{
    return is_ours(node) && strcmp((const char *)node->name, name) == 0;
}

static int
fail_at(const xmlNode *node, struct failure **failure, enum failure_code code,
        const char *message, const char *hint)
{
    failure_set(failure, code, "<%s> %s", node->name, message);
    failure_at_line(failure, xml_line(node));
    return failure_hint(failure, "%s", hint);
}

/* --- what may stand where --------------------------------------------------------- */

static int
check_attributes(const xmlNode *node, const char *const *known, struct failure **failure)
{
    for (const xmlAttr *attribute = node->properties; attribute;
         attribute = attribute->next) {
        const char *name = (const char *)attribute->name;
        const char *const *match = known;

        while (*match && strcmp(*match, name) != 0)
            match++;
        if (*match && !attribute->ns)
            continue;
        failure_set(failure, FAILURE_REQUEST_UNKNOWN,
                    "<%s> has an unknown attribute '%s'", node->name, name);
        failure_at_line(failure, xml_line(node));
        return failure_hint(failure, "remove it, or see virt-seed-xml(5) for its name");
    }
    return 0;
}

/* Between the children of such an element there is nothing but white space and
 * comments. */
static int
check_no_text(const xmlNode *node, struct failure **failure)
{
    for (const xmlNode *child = node->children; child; child = child->next) {
        if ((child->type == XML_TEXT_NODE || child->type == XML_CDATA_SECTION_NODE) &&
            !xmlIsBlankNode((xmlNode *)child))
            return fail_at(node, failure, FAILURE_REQUEST, "has text beside its elements",
                           "put the text into one of the elements of virt-seed-xml(5)");
    }
    return 0;
}

static int
check_no_children(const xmlNode *node, struct failure **failure)
{
    const xmlNode *child = xml_first_element(node);

    if (!child)
        return 0;
    failure_set(failure, FAILURE_REQUEST_UNKNOWN,
                "<%s> has an element <%s>, expected text", node->name, child->name);
    failure_at_line(failure, xml_line(child));
    return failure_hint(failure,
                        "write markup that belongs to the text as &lt;%s&gt;, or "
                        "put the text into <![CDATA[…]]>",
                        child->name);
}

/* Each element may be there once. */
static int
check_once(const xmlNode *node, struct failure **failure)
{
    for (const xmlNode *other = xmlPreviousElementSibling((xmlNode *)node); other;
         other = xmlPreviousElementSibling((xmlNode *)other)) {
        if (!is_element(other, (const char *)node->name))
            continue;
        failure_set(failure, FAILURE_REQUEST, "<%s> is there twice", node->name);
        failure_at_line(failure, xml_line(node));
        return failure_hint(failure, "keep one of them");
    }
    return 0;
}

static int
fail_unknown_element(const xmlNode *parent, const xmlNode *node, struct failure **failure)
{
    failure_set(failure, FAILURE_REQUEST_UNKNOWN, "<%s> has an unknown element <%s>",
                parent->name, node->name);
    failure_at_line(failure, xml_line(node));
    if (!is_ours(node))
        return failure_hint(failure,
                            "elements below <%s> belong to the namespace '%s': "
                            "write the same prefix before each",
                            parent->name, REQUEST_NAMESPACE);
    return failure_hint(failure, "remove it, or see virt-seed-xml(5) for its name");
}

/* --- elements --------------------------------------------------------------------- */

/* Return: the element's text without white space around it, owned by the caller. */
static char *
read_word(const xmlNode *node)
{
    cleanup_free char *text = xml_text(node);
    char *begin = text + strspn(text, " \t\r\n");
    size_t length = strlen(begin);

    while (length > 0 && isspace((unsigned char)begin[length - 1]))
        length--;
    return xstrndup(begin, length);
}

static int
read_hostname(struct request *request, const xmlNode *node, struct failure **failure)
{
    request->hostname = read_word(node);
    if (hostname_check(request->hostname, failure) < 0)
        return failure_at_line(failure, xml_line(node));
    return 0;
}

/* cloud-init makes it the name of a folder, and people type it. */
static bool
is_instance_id(const char *text)
{
    if (!*text || strlen(text) > LIMIT_INSTANCE_ID || *text == '.')
        return false;
    for (; *text; text++) {
        if (*text <= ' ' || *text >= 0x7f || strchr("/\\;\"'", *text))
            return false;
    }
    return true;
}

static int
read_instance_id(struct request *request, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *policy = xml_attribute(node, "policy");
    cleanup_free char *text = read_word(node);

    if (!policy || strcmp(policy, "domain") == 0) {
        if (!*text)
            return 0;
        return fail_at(node, failure, FAILURE_INSTANCE_ID,
                       "has text, which belongs to policy=\"fixed\"",
                       "write policy=\"fixed\", or remove the text");
    }
    if (strcmp(policy, "fixed") != 0) {
        failure_set(failure, FAILURE_INSTANCE_ID,
                    "<%s> has policy=\"%.64s\", expected \"domain\" or \"fixed\"",
                    node->name, policy);
        failure_at_line(failure, xml_line(node));
        return failure_hint(failure, "\"domain\" is the same at each start, \"fixed\" is "
                                     "the element's text");
    }
    if (!is_instance_id(text))
        return fail_at(node, failure, FAILURE_INSTANCE_ID,
                       "has policy=\"fixed\", but its text is no instance-id",
                       "write 1 to 128 printable ASCII characters without space, slash, "
                       "backslash, semicolon or quote, and no dot in front");
    request->instance_id_policy = INSTANCE_ID_FIXED;
    request->instance_id = steal(text);
    return 0;
}

static int
read_ssh_keys(struct request *request, const xmlNode *node, struct failure **failure)
{
    const char *const no_attributes[] = {NULL};

    if (check_no_text(node, failure) < 0)
        return -1;
    for (const xmlNode *key = xml_first_element(node); key; key = xml_next_element(key)) {
        char *text;

        if (!is_element(key, "key"))
            return fail_unknown_element(node, key, failure);
        if (check_attributes(key, no_attributes, failure) < 0 ||
            check_no_children(key, failure) < 0)
            return -1;
        if (request->ssh_key_count == LIMIT_SSH_KEYS)
            return fail_at(key, failure, FAILURE_LIMIT, "is one of too many",
                           "at most 256 keys");
        text = read_word(key);
        request->ssh_keys =
            xreallocarray(request->ssh_keys, request->ssh_key_count + 1, sizeof(char *));
        request->ssh_keys[request->ssh_key_count++] = text;
        if (ssh_key_check(text, failure) < 0)
            return failure_at_line(failure, xml_line(key));
    }
    return 0;
}

/* Return: 0, or -1 when the key is none or there already. */
static int
check_entry(const struct request *request, const xmlNode *node, const char *key,
            const char *value, struct failure **failure)
{
    if (!key || !*key || strlen(key) > LIMIT_ENTRY_KEY)
        return fail_at(node, failure, FAILURE_META_DATA,
                       "has no name= of 1 to 256 characters", "write name=\"KEY\"");
    if (strlen(value) > LIMIT_ENTRY_VALUE)
        return fail_at(node, failure, FAILURE_LIMIT, "has a value of more than 64 KiB",
                       "put large values into user-data");
    if (request->meta_data_count == LIMIT_ENTRIES)
        return fail_at(node, failure, FAILURE_LIMIT, "is one of too many",
                       "at most 256 entries");
    for (size_t i = 0; i < request->meta_data_count; i++) {
        if (strcmp(request->meta_data[i].key, key) != 0)
            continue;
        failure_set(failure, FAILURE_META_DATA, "<%s name=\"%s\"> is there twice",
                    node->name, key);
        failure_at_line(failure, xml_line(node));
        return failure_hint(failure, "keep one of them");
    }
    return 0;
}

static int
read_meta_data(struct request *request, const xmlNode *node, struct failure **failure)
{
    const char *const attributes[] = {"name", NULL};

    if (check_no_text(node, failure) < 0)
        return -1;
    for (const xmlNode *entry = xml_first_element(node); entry;
         entry = xml_next_element(entry)) {
        cleanup_free char *key = xml_attribute(entry, "name");
        cleanup_free char *value = xml_text(entry);

        if (!is_element(entry, "entry"))
            return fail_unknown_element(node, entry, failure);
        if (check_attributes(entry, attributes, failure) < 0 ||
            check_no_children(entry, failure) < 0 ||
            check_entry(request, entry, key, value, failure) < 0)
            return -1;
        request->meta_data =
            xreallocarray(request->meta_data, request->meta_data_count + 1,
                          sizeof(*request->meta_data));
        request->meta_data[request->meta_data_count++] =
            (struct meta_data_entry){.key = steal(key), .value = steal(value)};
    }
    return 0;
}

static int
read_part(struct request *request, const xmlNode *node, struct failure **failure)
{
    enum part_kind kind = PART_USER_DATA;

    while (strcmp(part_kind_name(kind), (const char *)node->name) != 0)
        kind++;
    return part_read(&request->parts[kind], node, failure);
}

#define PART_ATTRIBUTES                                                                  \
    {                                                                                    \
        "encoding", "file", "secret", "key", NULL                                        \
    }

static const struct element elements[] = {
    {"hostname", read_hostname, {NULL}},
    {"instance-id", read_instance_id, {"policy", NULL}},
    {"ssh-authorized-keys", read_ssh_keys, {NULL}},
    {"meta-data", read_meta_data, {NULL}},
    {"user-data", read_part, PART_ATTRIBUTES},
    {"vendor-data", read_part, PART_ATTRIBUTES},
    {"network-config", read_part, PART_ATTRIBUTES},
};

/* Elements with children of their own. */
static bool
is_container(const struct element *element)
{
    return element->read == read_ssh_keys || element->read == read_meta_data;
}

static int
read_element(struct request *request, const xmlNode *parent, const xmlNode *node,
             struct failure **failure)
{
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
        const struct element *element = &elements[i];

        if (!is_element(node, element->name))
            continue;
        if (check_once(node, failure) < 0 ||
            check_attributes(node, element->attributes, failure) < 0)
            return -1;
        if (!is_container(element) && check_no_children(node, failure) < 0)
            return -1;
        return element->read(request, node, failure);
    }
    return fail_unknown_element(parent, node, failure);
}

/* --- the request ------------------------------------------------------------------ */

static int
fail_value(const xmlNode *node, const char *name, const char *value, const char *expected,
           struct failure **failure)
{
    failure_set(failure, FAILURE_REQUEST, "<%s> has %s=\"%.64s\", expected %s",
                node->name, name, value, expected);
    failure_at_line(failure, xml_line(node));
    return failure_hint(failure, "correct it, or leave %s= away", name);
}

static int
read_attributes(struct request *request, const xmlNode *node, struct failure **failure)
{
    const char *const known[] = {"datasource", "bus", "serial", "smbios-was", NULL};
    cleanup_free char *datasource = xml_attribute(node, "datasource");
    cleanup_free char *bus = xml_attribute(node, "bus");
    cleanup_free char *serial = xml_attribute(node, "serial");

    if (check_attributes(node, known, failure) < 0)
        return -1;
    if (datasource && strcmp(datasource, "nocloud") != 0)
        return fail_value(node, "datasource", datasource, "\"nocloud\"", failure);
    request->datasource = DATASOURCE_NOCLOUD;
    if (bus && strcmp(bus, "auto") != 0) {
        request->bus = domain_bus_parse(bus);
        if (request->bus == DOMAIN_BUS_OTHER)
            return fail_value(
                node, "bus", bus,
                "\"auto\", \"scsi\", \"sata\", \"ide\", \"usb\" or \"virtio\"", failure);
    }
    request->serial = !serial || strcmp(serial, "no") != 0;
    if (serial && request->serial && strcmp(serial, "yes") != 0)
        return fail_value(node, "serial", serial, "\"yes\" or \"no\"", failure);
    return 0;
}

xmlNode *
request_find(const struct domain *domain)
{
    xmlNode *node = xml_first_element(xml_child(domain->root, "metadata"));

    while (node && !is_element(node, "cloud-init"))
        node = xml_next_element(node);
    return node;
}

static int
fail_missing(struct failure **failure)
{
    failure_set(failure, FAILURE_REQUEST_MISSING,
                "asks for no cloud-init: its <metadata> has no <cloud-init>");
    return failure_hint(failure,
                        "add <metadata><ci:cloud-init xmlns:ci=\"%s\">…"
                        "</ci:cloud-init></metadata>; see virt-seed-xml(5)",
                        REQUEST_NAMESPACE);
}

/* libvirt keeps the first element of a namespace and drops the others without a word. */
static int
check_alone(const xmlNode *node, struct failure **failure)
{
    for (const xmlNode *other = xml_first_element(node->parent); other;
         other = xml_next_element(other)) {
        if (other != node && is_ours(other))
            return fail_at(other, failure, FAILURE_REQUEST,
                           "is a second element of virt-seed's in <metadata>",
                           "keep <cloud-init> alone: libvirt keeps the first only");
    }
    return 0;
}

int
request_read(struct request *request, const struct domain *domain,
             struct failure **failure)
{
    const xmlNode *node = request_find(domain);

    *request = (struct request){.serial = true};
    for (enum part_kind kind = PART_USER_DATA; kind < PART_KINDS; kind++)
        request->parts[kind].kind = kind;
    if (!node)
        return fail_missing(failure);
    request->line = xml_line(node);
    if (check_alone(node, failure) < 0 || read_attributes(request, node, failure) < 0 ||
        check_no_text(node, failure) < 0)
        return -1;
    for (const xmlNode *child = xml_first_element(node); child;
         child = xml_next_element(child)) {
        if (read_element(request, node, child, failure) < 0)
            return -1;
    }
    return 0;
}

void
request_clear(struct request *request)
{
    free(request->hostname);
    free(request->instance_id);
    for (size_t i = 0; i < request->ssh_key_count; i++)
        free(request->ssh_keys[i]);
    free(request->ssh_keys);
    for (size_t i = 0; i < request->meta_data_count; i++) {
        free(request->meta_data[i].key);
        free(request->meta_data[i].value);
    }
    free(request->meta_data);
    for (enum part_kind kind = PART_USER_DATA; kind < PART_KINDS; kind++)
        part_clear(&request->parts[kind]);
    *request = (struct request){0};
}
