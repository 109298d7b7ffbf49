/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "domain/guest-value.h"
#include "seed/content.h"
#include "seed/layout.h"
#include "seed/seed.h"
#include "seed/ssh-host-keys.h"
#include "seed/yaml.h"

int
seed_make(struct seed *seed, struct request *request, struct failure **failure)
{
    size_t size = 0;

    if (request->payload) {
        /* It is a seed already. Its label stays, for request_serial(). */
        *seed = *request->payload;
        *request->payload = (struct seed){.label = xstrdup(seed->label)};
    } else {
        const struct layout *layout = layout_find(request->datasource->label);
        struct part *network = parts_find(&request->parts, PART_NETWORK_CONFIG);

        /* Every datasource's label has one. */
        assert(layout);
        if (network && yaml_is_empty(network->data.data, network->data.size))
            network->data.size = 0;
        else if (network && !request->datasource->has_network_data)
            network_config_normalize(&network->data);
        *seed = (struct seed){.label = xstrdup(request->datasource->label),
                              .over_http = request->datasource->over_http};
        if (layout->make(seed, request, failure) < 0)
            return -1;
    }
    for (size_t i = 0; i < seed->document_count; i++)
        size += seed->documents[i].data.size;
    if (size <= LIMIT_SEED)
        return 0;
    return failure_set(failure, FAILURE_LIMIT,
                       "the seed has %zu bytes, at most %lu\n"
                       "let the guest fetch large files itself",
                       size, LIMIT_SEED);
}

/* --- what the guest would reject -------------------------------------------------- */

static int
check_ssh_keys(const struct buffer *data, struct failure **failure)
{
    cleanup_free char *text = xstrdup(buffer_text(data));
    char *rest = text;
    int number = 0;

    if (data->size > 0 &&
        (!utf8_is_valid(data->data, data->size) || memchr(data->data, '\0', data->size)))
        return failure_set(failure, FAILURE_REQUEST,
                           "is not text in UTF-8\nsave it as UTF-8, without NUL");
    for (char *key; (key = ssh_key_next(&rest, &number));) {
        if (ssh_key_check(key, failure) < 0)
            return failure_in_line(failure, number);
    }
    return 0;
}

/* A password is one line of UTF-8 without control characters. Otherwise, what the
 * document's readers take for the end of a line would cut it off. */
static int
check_password(const struct part *part, struct failure **failure)
{
    cleanup_free char *word = part_word(part);
    cleanup_free char *printable = xstrdup(word);
    const char *problem = NULL;

    utf8_replace_controls(printable);
    if (!*word)
        problem = "the password is empty";
    else if (strcmp(printable, word) != 0 || strlen(word) > LIMIT_PASSWORD ||
             memchr(part->data.data, '\0', part->data.size))
        problem = "the password is not one line of at most 512 bytes of text";
    if (!problem)
        return 0;
    return failure_set(failure, FAILURE_REQUEST,
                       "%s\n"
                       "put the password alone there, in UTF-8, without tabs and other "
                       "control characters",
                       problem);
}

static int
check_meta_data_value(const struct buffer *data, struct failure **failure)
{
    if (data->size <= LIMIT_ENTRY_VALUE)
        return 0;
    return failure_set(failure, FAILURE_LIMIT,
                       "has a value of more than %lu KiB\n"
                       "put large values into user-data",
                       LIMIT_ENTRY_VALUE / KIB);
}

/* oVirt's custom script: a cloud-config without its header, or a whole document. */
static int
check_custom_script(const char *data, size_t size, bool windows, struct failure **failure)
{
    cleanup_yaml struct yaml yaml = {0};

    if (!user_data_lacks_header(data, size))
        return user_data_check(data, size, windows, NULL, failure);
    if (yaml_read(&yaml, data, size, YAML_CLOUD_CONFIG, failure) < 0)
        return -1;
    if (!yaml_get(yaml.root, "ignition"))
        return 0;
    return failure_set(failure, FAILURE_USER_DATA,
                       "is a configuration for Ignition, which cloud-init does not know\n"
                       "give it to the guest with <user-data format=\"raw\">, or with "
                       "<sysinfo type='fwcfg'>, as 'opt/com.coreos/config'");
}

/* Return: a set of the metadata's keys that may have a '-'. */
static json_t *
meta_data_keys(const struct request *request)
{
    json_t *keys = json_pack("{s:n, s:n}", "instance-id", "local-hostname");

    for (size_t i = 0; i < request->meta_data_count; i++)
        json_set(keys, request->meta_data[i].key, json_null());
    parts_foreach(part, &request->parts, PART_META_DATA) {
        cleanup_yaml struct yaml yaml = {0};
        cleanup_failure struct failure *ignored = NULL;

        for (size_t i = 0; i < part->entry_count; i++)
            json_set(keys, part->entries[i].key, json_null());
        if (part->key)
            json_set(keys, part->key, json_null());
        if (part->origin != PART_FILE || part->data.size == 0 ||
            yaml_read(&yaml, part->data.data, part->data.size, YAML_ONE_MAPPING,
                      &ignored) < 0)
            continue;
        yaml_foreach(item, yaml.root)
            json_set(keys, item->key->text, json_null());
    }
    return keys;
}

bool
template_keys_have(struct template_keys *keys, const char *key)
{
    if (!keys->keys)
        keys->keys = meta_data_keys(keys->request);
    return json_object_get(keys->keys, key);
}

static int
check_data(const struct request *request, const struct part *part,
           struct failure **failure)
{
    const char *data = part->data.data;
    const size_t size = part->data.size;
    /* By default, cloudbase-init reads a ConfigDrive, or the same documents over HTTP. */
    const bool windows =
        request->datasource->has_network_data || request->datasource->over_http;
    struct template_keys keys = {.request = request};
    int result;

    switch (part->kind) {
    case PART_USER_DATA:
    case PART_VENDOR_DATA:
        if (part->raw)
            return 0;
        result = user_data_check(data, size, windows, &keys, failure);
        json_decref(keys.keys);
        return result;
    case PART_NETWORK_CONFIG:
        if (yaml_is_empty(data, size))
            return 0;
        if (request->datasource->has_network_data)
            return network_data_check(data, size, request->domain, failure);
        return network_config_check(data, size, failure);
    case PART_META_DATA:
        if (part->origin == PART_SECRET)
            return check_meta_data_value(&part->data, failure);
        return yaml_check(data, size, YAML_ONE_MAPPING, failure);
    case PART_SSH_KEYS:
        return check_ssh_keys(&part->data, failure);
    case PART_ADMIN_PASSWORD:
    case PART_PASSWORD:
    case PART_ROOT_PASSWORD:
    case PART_VALUE:
        if (part_is_password(part))
            return check_password(part, failure);
        if (strcmp(part->element, "custom_script") == 0)
            return check_custom_script(data, size, windows, failure);
        break;
    case PART_SSH_HOST_KEYS:
        break;
    }
    return 0;
}

int
seed_check_part(const struct request *request, const struct part *part,
                struct failure **failure)
{
    const bool has_data =
        part->data.size > 0 || part->kind == PART_VALUE || part_is_password(part);
    int result = 0;

    if (part->masked)
        return 0;
    for (size_t i = 0; i < part->entry_count && result == 0; i++) {
        const struct part_entry *entry = &part->entries[i];

        if (part->kind == PART_SSH_KEYS)
            result = check_ssh_keys(&entry->data, failure);
        else if (part->kind == PART_SSH_HOST_KEYS)
            result = ssh_host_key_check(part, entry, failure);
        else if (part->kind == PART_META_DATA)
            result = check_meta_data_value(&entry->data, failure);
        if (result < 0)
            failure_prefix(failure, "key '%s'", entry->key);
    }
    if (result == 0 && has_data && !part_is_whole_secret(part))
        result = check_data(request, part, failure);
    return result == 0 ? 0 : part_fail(part, failure);
}
