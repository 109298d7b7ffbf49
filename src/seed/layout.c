/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "domain/digest.h"
#include "seed/content.h"
#include "seed/layout.h"
#include "seed/yaml.h"

static const struct layout *const layouts[] = {&layout_nocloud, &layout_configdrive};

const struct layout *
layout_find(const char *label)
{
    const struct datasource *datasource = datasource_find_label(label);

    for (size_t i = 0; datasource && i < ARRAY_SIZE(layouts); i++) {
        if (strcmp(layouts[i]->datasource, datasource->name) == 0)
            return layouts[i];
    }
    return NULL;
}

const struct layout_document *
layout_find_document(const struct layout *layout, const char *path)
{
    for (const struct layout_document *document = layout->documents; document->path;
         document++) {
        if (strcmp(document->path, path) == 0)
            return document;
    }
    return NULL;
}

const struct layout_document *
layout_find_role(const struct layout *layout, enum layout_role role, enum layout_role or)
{
    for (const struct layout_document *document = layout->documents; document->path;
         document++) {
        if (document->role == role || document->role == or)
            return document;
    }
    return NULL;
}

static json_t *
load_json(const char *data, size_t size, struct failure **failure)
{
    json_error_t error;
    json_t *json = json_loadb(data, size, 0, &error);

    if (!json)
        failure_set(failure, FAILURE_META_DATA,
                    "line %d: not JSON\ncloud-init reads this document as strict JSON",
                    error.line);
    return json;
}

static char *
copy_scalar(const struct yaml *yaml, const char *key)
{
    const struct yaml_node *node = yaml_get(yaml->root, key);

    return node && node->kind == YAML_SCALAR ? xstrdup(node->text) : NULL;
}

static int
read_identity(const struct layout_document *document, const char *data, size_t size,
              struct identity *identity, struct failure **failure)
{
    cleanup_yaml struct yaml yaml = {0};
    const char *uuid, *hostname;
    cleanup_json json_t *json = NULL;

    *identity = (struct identity){0};
    if (document->role == LAYOUT_META_DATA) {
        if (yaml_read(&yaml, data ? data : "", size, YAML_ONE_MAPPING, failure) < 0)
            return -1;
        identity->instance_id = copy_scalar(&yaml, "instance-id");
        identity->hostname = copy_scalar(&yaml, "local-hostname");
        return 0;
    }
    if (document->role != LAYOUT_META_DATA_JSON)
        return 0;
    json = load_json(data ? data : "", size, failure);
    if (!json)
        return -1;
    uuid = json_string_value(json_object_get(json, "uuid"));
    hostname = json_string_value(json_object_get(json, "hostname"));
    identity->instance_id = uuid ? xstrdup(uuid) : NULL;
    identity->hostname = hostname ? xstrdup(hostname) : NULL;
    if (uuid)
        return 0;
    return failure_set(failure, FAILURE_META_DATA,
                       "has no uuid, which is the instance-id\n"
                       "cloud-init does not take a drive without it");
}

char *
layout_describe(const struct layout_document *document, const char *data, size_t size,
                struct failure **failure)
{
    const bool yaml = document->role == LAYOUT_META_DATA;
    const char *id_key = yaml ? "instance-id" : "uuid";
    const char *host_key = yaml ? "local-hostname" : "hostname";
    cleanup_identity struct identity identity = {0};
    cleanup_json json_t *json = NULL;
    const char *id, *host;

    data = data ? data : "";
    switch (document->role) {
    case LAYOUT_META_DATA:
    case LAYOUT_META_DATA_JSON:
        if (read_identity(document, data, size, &identity, failure) < 0)
            return NULL;
        id = identity.instance_id;
        host = identity.hostname;
        if (id && host)
            return xasprintf("%s %s, %s %s", id_key, id, host_key, host);
        if (id || host)
            return xasprintf("%s %s", id ? id_key : host_key, id ? id : host);
        return xasprintf("neither %s nor %s", id_key, host_key);
    case LAYOUT_USER_DATA:
    case LAYOUT_VENDOR_DATA:
        if (user_data_check(data, size, true, NULL, failure) < 0)
            return NULL;
        return xstrdup(user_data_kind_name(user_data_kind(data, size)));
    case LAYOUT_VENDOR_DATA_JSON:
    case LAYOUT_NETWORK_DATA_JSON:
        json = load_json(data, size, failure);
        return json ? xstrdup("JSON") : NULL;
    case LAYOUT_NETWORK_CONFIG:
        break;
    }
    if (yaml_is_empty(data, size))
        return xstrdup("nothing");
    if (network_config_check(data, size, failure) < 0)
        return NULL;
    return xstrdup("network-config");
}

char *
layout_content_path(const json_t *content_path)
{
    const char *text = json_string_value(content_path);

    if (!text)
        return NULL;
    text += strspn(text, "/");
    return *text ? xasprintf("openstack/%s", text) : NULL;
}

static void
add_reference(json_t *references, const json_t *item, const char *taken)
{
    cleanup_free char *path = layout_content_path(json_object_get(item, "content_path"));

    if (path)
        json_set(references, path, json_outside_string(taken));
}

json_t *
layout_references(const struct seed *seed)
{
    const struct layout *layout = layout_find(seed->label);
    const struct document *document =
        layout ? seed_find_document(seed, layout->documents->path) : NULL;
    cleanup_failure struct failure *ignored = NULL;
    cleanup_json json_t *meta = NULL;
    json_t *references = json_object();
    json_t *item;
    size_t i;

    if (!document || layout->documents->role != LAYOUT_META_DATA_JSON)
        return references;
    meta = load_json(buffer_text(&document->data), document->data.size, &ignored);
    add_reference(references, json_object_get(meta, "network_config"), "interfaces(5)");
    json_array_foreach(json_object_get(meta, "files"), i, item) {
        const char *path = json_string_value(json_object_get(item, "path"));
        cleanup_free char *taken = xasprintf("the file %.256s", path ? path : "?");

        add_reference(references, item, taken);
    }
    return references;
}

char *
layout_kept_digest(const struct layout_document *document, const struct document *content)
{
    const char *data = buffer_text(&content->data);
    cleanup_failure struct failure *ignored = NULL;
    cleanup_buffer struct buffer kept = {0};
    cleanup_free char *text = NULL;
    cleanup_json json_t *json = NULL;
    json_t *inner;

    if (document->role == LAYOUT_VENDOR_DATA_JSON) {
        json = load_json(data, content->data.size, &ignored);
        inner = json_object_get(json, "cloud-init");
        if (!json_is_string(inner))
            return NULL;
        buffer_append(&kept, json_string_value(inner), json_string_length(inner));
        return digest_make(&kept);
    }
    if (document->role != LAYOUT_NETWORK_CONFIG ||
        yaml_is_empty(data, content->data.size))
        return NULL;
    json = yaml_load(data, content->data.size, YAML_ONE_MAPPING, &ignored);
    inner = json_object_get(json, "network");
    inner = json_is_object(inner) ? inner : json;
    /* A disabled one is not kept. */
    if (json_is_string(json_object_get(inner, "config")))
        return NULL;
    text = json_dumps(inner, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    /* Python's escapes have lower-case digits, jansson's upper-case ones. */
    if (!text || strstr(text, "\\u"))
        return NULL;
    buffer_append_string(&kept, text);
    buffer_append_string(&kept, "\n");
    return digest_make(&kept);
}

int
layout_read_identity(const struct layout *layout, const struct seed *seed,
                     struct identity *identity, struct failure **failure)
{
    /* The first document of each layout is the meta-data. */
    const struct layout_document *meta_data = layout->documents;
    const struct document *document = seed_find_document(seed, meta_data->path);

    *identity = (struct identity){0};
    if (!document)
        return failure_set(failure, FAILURE_META_DATA,
                           "the seed has no %s\n"
                           "virt-seed did not make it; see 'virt-seed inspect'",
                           meta_data->path);
    if (read_identity(meta_data, document->data.data, document->data.size, identity,
                      failure) < 0)
        return failure_prefix(failure, "%s", meta_data->path);
    return 0;
}

bool
identity_is_same(const struct identity *one, const struct identity *other)
{
    return one->instance_id && other->instance_id &&
           strcmp(one->instance_id, other->instance_id) == 0;
}

void
identity_clear(struct identity *identity)
{
    free(identity->instance_id);
    free(identity->hostname);
    *identity = (struct identity){0};
}
