/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Imports the payload that oVirt's engine puts in a domain's metadata: the files of a seed
 * become the elements that give the guest the same files.
 */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "import/import.h"
#include "seed/json.h"
#include "seed/yaml.h"

/* --- keys of the meta-data -------------------------------------------------------- */

/* The names of keys in a datasource's document. */
struct meta_keys {
    bool json; /* otherwise YAML */
    const char *hostname;
    const char *instance_id;
    const char *instance_type;
    const char *public_keys;
    const char *same_hostname; /* repeats the host name; NULL if there is none */
};

static const struct meta_keys openstack_keys = {
    .json = true,
    .hostname = "hostname",
    .instance_id = "uuid",
    .instance_type = "instance_type",
    .public_keys = "public_keys",
    .same_hostname = "name",
};
static const struct meta_keys nocloud_keys = {
    .hostname = "local-hostname",
    .instance_id = "instance-id",
    .instance_type = "instance-type",
    .public_keys = "public-keys",
};

static int
fail_key(const char *key, const char *message, const char *hint, struct failure **failure)
{
    return failure_set(failure, FAILURE_REQUEST, "key '%.256s' %s\n%s", key, message,
                       hint);
}

static int
add_word(struct import *import, const json_t *meta, const char *key, const char *element,
         const char *policy, struct failure **failure)
{
    const json_t *value = json_object_get(meta, key);
    const char *text = json_string_value(value);
    xmlNode *node;

    if (!value)
        return 0;
    if (!text || !*text || !element_can_hold(text, strlen(text)))
        return fail_key(key, "is not text that a domain's XML can contain", "fix it",
                        failure);
    node = element_add_text(import->element, element, text);
    if (policy)
        element_set(node, "policy", policy);
    return 0;
}

static int
add_public_key(xmlNode *node, const char *key, const json_t *value,
               struct failure **failure)
{
    const char *text = json_string_value(value);
    cleanup_free char *word = NULL;

    if (!text || !element_can_hold(text, strlen(text)))
        return fail_key(key, "is neither a list of keys nor a mapping of names to keys",
                        "write a list", failure);
    word = xstrndup(text, strcspn(text, "\r\n"));
    if (text[strlen(word) + strspn(text + strlen(word), "\r\n")])
        return fail_key(key, "has a key of more than one line", "write a list", failure);
    if (*word)
        element_add_text(node, "key", word);
    return 0;
}

static int
add_public_keys(struct import *import, const json_t *meta, const char *key,
                struct failure **failure)
{
    json_t *value = json_object_get(meta, key);
    const char *name;
    xmlNode *node;
    json_t *item;
    size_t i;

    if (!value)
        return 0;
    node = element_add(import->element, "ssh-authorized-keys");
    if (!json_is_array(value) && !json_is_object(value))
        return add_public_key(node, key, value, failure);
    json_array_foreach(value, i, item)
    {
        if (add_public_key(node, key, item, failure) < 0)
            return -1;
    }
    json_object_foreach(value, name, item)
    {
        if (add_public_key(node, key, item, failure) < 0)
            return -1;
    }
    return 0;
}

/* A key without an element becomes an <entry> of `node`. */
static int
add_entry(struct import *import, const struct meta_keys *names, const json_t *meta,
          const char *key, const json_t *value, xmlNode **node, struct failure **failure)
{
    /* The engine writes this into each "meta"; no guest uses it. */
    cleanup_json json_t *constant = json_pack("{s:s, s:s, s:s}", "dsmode", "local",
                                              "essential", "false", "role", "server");
    const char *text = json_string_value(value);

    if (strcmp(key, names->hostname) == 0 || strcmp(key, names->instance_id) == 0 ||
        strcmp(key, names->instance_type) == 0 || strcmp(key, names->public_keys) == 0)
        return 0;
    if (names->same_hostname && strcmp(key, names->same_hostname) == 0)
        return json_equal(value, json_object_get(meta, names->hostname))
                   ? 0
                   : fail_key(key, "differs from the host name",
                              "write the same host name in both keys", failure);
    if (strcmp(key, "meta") == 0 && json_equal(value, constant)) {
        import_note(import, "key 'meta' is ignored: it contains only what oVirt writes "
                            "for every guest");
        return 0;
    }
    if (strcmp(key, "admin_pass") == 0)
        return fail_key(key, "is a password",
                        "put it in a secret, and write <admin-password secret=…>",
                        failure);
    if (!text || !*key || strlen(key) > LIMIT_ENTRY_KEY ||
        strlen(text) > LIMIT_ENTRY_VALUE || !element_can_hold(key, strlen(key)) ||
        !element_can_hold(text, strlen(text)))
        return fail_key(key, "has a value that no element can express",
                        "remove it, or write text: other keys can only have text",
                        failure);
    if (!*node)
        *node = element_add(import->element, "meta-data");
    element_set(element_add_text(*node, "entry", text), "name", key);
    return 0;
}

static int
add_meta(struct import *import, const struct meta_keys *names, const struct buffer *data,
         struct failure **failure)
{
    json_error_t error;
    cleanup_json json_t *meta =
        names->json ? json_loadb(data->data, data->size, JSON_REJECT_DUPLICATES, &error)
                    : yaml_load(data->data, data->size, YAML_ONE_DOCUMENT, failure);
    xmlNode *node = NULL;
    const char *key;
    json_t *value;

    if (!meta && names->json)
        return failure_set(failure, FAILURE_REQUEST,
                           "not JSON: line %d: %s\n"
                           "use the document that the engine made",
                           error.line, error.text);
    if (!meta)
        return -1;
    if (!json_is_object(meta))
        return failure_set(failure, FAILURE_REQUEST,
                           "not a mapping\nuse the document that the engine made");
    if (add_word(import, meta, names->hostname, "hostname", NULL, failure) < 0 ||
        add_word(import, meta, names->instance_id, "instance-id", "fixed", failure) < 0 ||
        add_word(import, meta, names->instance_type, "instance-type", NULL, failure) <
            0 ||
        add_public_keys(import, meta, names->public_keys, failure) < 0)
        return -1;
    json_object_foreach(meta, key, value)
    {
        if (add_entry(import, names, meta, key, value, &node, failure) < 0)
            return -1;
    }
    return 0;
}

/* --- files ------------------------------------------------------------------------ */

struct known_file {
    const char *path;
    const char *element;          /* that gives it to the guest unchanged, or NULL */
    const struct meta_keys *meta; /* if there is no such element */
};

static const struct known_file configdrive_files[] = {
    {"openstack/latest/meta_data.json", .meta = &openstack_keys},
    {"openstack/latest/user_data", .element = "user-data"},
    {"openstack/latest/network_data.json", .element = "network-config"},
    {0},
};
static const struct known_file nocloud_files[] = {
    {"meta-data", .meta = &nocloud_keys},
    {"user-data", .element = "user-data"},
    {"vendor-data", .element = "vendor-data"},
    {"network-config", .element = "network-config"},
    {0},
};

static int
add_file(struct import *import, const struct document *file,
         const struct known_file *known, struct failure **failure)
{
    const struct buffer *data = &file->data;

    while (known->path && strcmp(known->path, file->path) != 0)
        known++;
    if (!known->path)
        return failure_set(failure, FAILURE_REQUEST,
                           "no element can give the guest this file\n"
                           "remove it, or keep the payload in the domain: virt-seed "
                           "makes a seed from it unchanged");
    if (known->meta)
        return add_meta(import, known->meta, data, failure);
    if (data->size > 0)
        element_add_data(import->element, known->element, data->data, data->size);
    return 0;
}

int
import_ovirt_payload(struct import *import, xmlDoc *doc, struct failure **failure)
{
    cleanup_seed struct seed payload = {0};
    cleanup_domain struct domain domain = {0};
    const xmlNode *node;
    bool config_drive;

    if (domain_read(&domain, doc, failure) < 0)
        return -1;
    node = payload_find(&domain);
    if (!node)
        return failure_set_at(failure, FAILURE_REQUEST, xml_line(domain.root),
                              "the domain has no oVirt payload in its <metadata>\n"
                              "there is nothing to import");
    if (payload_read(&payload, node, failure) < 0)
        return -1;
    config_drive = strcmp(payload.label, SEED_LABEL_CONFIGDRIVE) == 0;
    if (!config_drive && strcasecmp(payload.label, SEED_LABEL_NOCLOUD) != 0)
        return failure_set(
            failure, FAILURE_REQUEST,
            "the payload has the volId '%s', expected '" SEED_LABEL_CONFIGDRIVE
            "' or '" SEED_LABEL_NOCLOUD "'\n"
            "import a payload that cloud-init can find",
            payload.label);
    if (config_drive)
        element_set(import->element, "datasource", "configdrive");
    for (size_t i = 0; i < payload.document_count; i++) {
        const struct document *file = &payload.documents[i];

        if (add_file(import, file, config_drive ? configdrive_files : nocloud_files,
                     failure) < 0)
            return failure_prefix(failure, "payload, file '%s'", file->path);
    }
    return 0;
}
