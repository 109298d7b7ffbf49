/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "seed/custom-meta-data.h"
#include "seed/yaml-json.h"

struct custom {
    json_t *object;
    json_t *origins; /* key: who gave it */
    const struct custom_owner *owners;
};

static int
fail_owned(const struct custom_owner *owner, const char *origin, struct failure **failure)
{
    if (!owner->element) {
        failure_set(failure, FAILURE_META_DATA,
                    "%s has the key '%s', which has a meaning of its own for the guest",
                    origin, owner->key);
        return failure_hint(failure, "choose another name for the key");
    }
    failure_set(failure, FAILURE_META_DATA,
                "%s has the key '%s', which virt-seed generates", origin, owner->key);
    return failure_hint(failure, "set it with <%s>", owner->element);
}

/* Takes the value over. */
static int
add(struct custom *custom, const char *key, json_t *value, const char *origin,
    struct failure **failure)
{
    cleanup_json json_t *owned = value;
    const char *other = json_string_value(json_object_get(custom->origins, key));

    for (const struct custom_owner *owner = custom->owners; owner->key; owner++) {
        if (strcmp(owner->key, key) == 0)
            return fail_owned(owner, origin, failure);
    }
    if (other) {
        failure_set(failure, FAILURE_META_DATA, "the key '%s' stands in both %s and %s",
                    key, other, origin);
        return failure_hint(failure, "keep one of them");
    }
    if (!owned) {
        failure_set(failure, FAILURE_META_DATA, "%s: the value of '%s' is not UTF-8",
                    origin, key);
        return failure_hint(failure, "encode it, as base64 for example");
    }
    json_must(json_object_set(custom->object, key, owned));
    json_set_string(custom->origins, key, origin);
    if (json_object_size(custom->origins) <= LIMIT_ENTRIES)
        return 0;
    failure_set(failure, FAILURE_LIMIT, "more than %d keys of metadata, with %s",
                LIMIT_ENTRIES, origin);
    return failure_hint(failure, "put large sets into user-data");
}

static int
add_entries(struct custom *custom, const struct request *request,
            struct failure **failure)
{
    for (size_t i = 0; i < request->meta_data_count; i++) {
        const struct meta_data_entry *entry = &request->meta_data[i];

        if (add(custom, entry->key, json_string(entry->value), "<meta-data>", failure) <
            0)
            return -1;
    }
    return 0;
}

/* YAML finds a key within 1024 characters, and a float by its dot and its sign ("1.0e+20"),
 * which JSON leaves out. */
static bool
is_portable_number(double number)
{
    return number == 0 || (fabs(number) >= 1e-4 && fabs(number) < 1e16);
}

static int
check_value(const json_t *value, struct failure **failure)
{
    const char *key;
    json_t *child;
    size_t index;

    if (json_is_real(value) && !is_portable_number(json_real_value(value))) {
        failure_set(failure, FAILURE_META_DATA, "has a number with an exponent");
        return failure_hint(failure, "put it in quotes, as text");
    }
    json_array_foreach((json_t *)value, index, child)
    {
        if (check_value(child, failure) < 0)
            return -1;
    }
    json_object_foreach((json_t *)value, key, child)
    {
        if (strlen(key) > LIMIT_ENTRY_KEY) {
            failure_set(failure, FAILURE_LIMIT, "has a key of more than %d bytes",
                        LIMIT_ENTRY_KEY);
            return failure_hint(failure, "shorten it");
        }
        if (check_value(child, failure) < 0)
            return -1;
    }
    return 0;
}

/* Any value that JSON can hold, as YAML says it. */
static int
add_file(struct custom *custom, const struct part *part, const char *origin,
         struct failure **failure)
{
    cleanup_json json_t *values =
        yaml_load(part->data.data, part->data.size, YAML_ONE_MAPPING, failure);
    const char *key;
    json_t *value;

    if (!values || check_value(values, failure) < 0)
        return failure_prefix(failure, "%s", origin);
    json_object_foreach(values, key, value)
    {
        if (add(custom, key, json_incref(value), origin, failure) < 0)
            return -1;
    }
    return 0;
}

static int
add_part(struct custom *custom, const struct part *part, const char *origin,
         struct failure **failure)
{
    for (size_t i = 0; i < part->entry_count; i++) {
        const struct buffer *data = &part->entries[i].data;

        if (add(custom, part->entries[i].key,
                json_stringn(data->size > 0 ? data->data : "", data->size), origin,
                failure) < 0)
            return -1;
    }
    if (part->origin == PART_FILE && part->data.size > 0)
        return add_file(custom, part, origin, failure);
    if (part->origin == PART_SECRET && part->key)
        return add(
            custom, part->key,
            json_stringn(part->data.size > 0 ? part->data.data : "", part->data.size),
            origin, failure);
    return 0;
}

int
custom_meta_data_add(json_t *object, const struct request *request,
                     const struct custom_owner *owners, struct failure **failure)
{
    cleanup_json json_t *origins = json_object();
    struct custom custom = {.object = object, .origins = origins, .owners = owners};

    if (add_entries(&custom, request, failure) < 0)
        return -1;
    for (const struct part *part = parts_find(&request->parts, PART_META_DATA); part;
         part = parts_next(&request->parts, part)) {
        cleanup_free char *origin = part_describe(part);

        if (add_part(&custom, part, origin, failure) < 0)
            return failure_at_line(failure, part->line);
    }
    return 0;
}
