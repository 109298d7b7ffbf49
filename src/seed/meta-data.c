/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/hostname.h"
#include "seed/json.h"
#include "seed/meta-data.h"

/* Keys of which the generated part is the owner, and the element that sets them. */
static const struct {
    const char *key;
    const char *element;
} generated[] = {
    {"instance-id", "instance-id"},
    {"local-hostname", "hostname"},
    {"public-keys", "ssh-authorized-keys"},
};

static int
check_entry(const struct meta_data_entry *entry, struct failure **failure)
{
    for (size_t i = 0; i < sizeof(generated) / sizeof(generated[0]); i++) {
        if (strcmp(entry->key, generated[i].key) != 0)
            continue;
        failure_set(failure, FAILURE_META_DATA,
                    "<meta-data> has an entry '%s', a key that virt-seed generates",
                    entry->key);
        return failure_hint(failure, "set it with <%s>", generated[i].element);
    }
    return 0;
}

char *
meta_data_instance_id(const struct domain *domain, const struct request *request)
{
    switch (request->instance_id_policy) {
    case INSTANCE_ID_FIXED:
        return xstrdup(request->instance_id);
    case INSTANCE_ID_DOMAIN:
        break;
    }
    return xstrdup(domain->uuid);
}

static char *
local_hostname(const struct domain *domain, const struct request *request)
{
    return request->hostname ? xstrdup(request->hostname)
                             : hostname_from_domain(domain->name, domain->uuid);
}

/* The XML was UTF-8 and so is everything here: jansson can only run out of memory. */
static void
set_string(json_t *object, const char *key, const char *value)
{
    if (json_object_set_new(object, key, json_string(value)) < 0)
        abort();
}

/* A list is the one shape that all readers share. */
static void
set_public_keys(json_t *object, const struct request *request)
{
    json_t *keys = json_array();

    for (size_t i = 0; i < request->ssh_key_count; i++) {
        if (json_array_append_new(keys, json_string(request->ssh_keys[i])) < 0)
            abort();
    }
    if (json_object_set_new(object, "public-keys", keys) < 0)
        abort();
}

/*
 * What JSON may hold as it is, and YAML may not (control characters) or would take for a
 * line's end (U+0085, U+2028, U+2029), is written as \\uXXXX, which both read. All of
 * them stand within strings.
 */
static void
append_for_yaml(struct buffer *buffer, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        cleanup_free char *escape = NULL;

        if (at[0] == 0x7f) {
            escape = xstrdup("\\u007f");
        } else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) {
            escape = xasprintf("\\u%04x", at[1]);
            at++;
        } else if (at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9)) {
            escape = xasprintf("\\u20%02x", at[2] - 0x80);
            at += 2;
        }
        if (escape)
            buffer_append_string(buffer, escape);
        else
            buffer_append(buffer, at, 1);
    }
}

int
meta_data_write_nocloud(struct buffer *buffer, const struct domain *domain,
                        const struct request *request, struct failure **failure)
{
    cleanup_json json_t *object = json_object();
    cleanup_free char *instance_id = meta_data_instance_id(domain, request);
    cleanup_free char *hostname = local_hostname(domain, request);
    cleanup_free char *text = NULL;

    set_string(object, "instance-id", instance_id);
    set_string(object, "local-hostname", hostname);
    if (request->ssh_key_count > 0)
        set_public_keys(object, request);
    for (size_t i = 0; i < request->meta_data_count; i++) {
        if (check_entry(&request->meta_data[i], failure) < 0)
            return -1;
        set_string(object, request->meta_data[i].key, request->meta_data[i].value);
    }
    text = json_dumps(object, JSON_INDENT(2));
    if (!text)
        abort();
    append_for_yaml(buffer, text);
    buffer_append_string(buffer, "\n");
    return 0;
}
