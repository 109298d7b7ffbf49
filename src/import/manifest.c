/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "import/manifest.h"

static const char *
type_name(json_type type)
{
    switch (type) {
    case JSON_OBJECT:
        return "a mapping";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        break;
    }
    return "nothing";
}

char *
manifest_path(const struct manifest *parent, const char *key)
{
    const char *plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    if (!*key || key[strspn(key, plain)])
        return xasprintf("%s[\"%.256s\"]", parent->path, key);
    return xasprintf("%s%s%.256s", parent->path, *parent->path ? "." : "", key);
}

int
manifest_fail(const struct manifest *parent, const char *key, const char *message,
              const char *hint, struct failure **failure)
{
    cleanup_free char *path = key ? manifest_path(parent, key) : xstrdup(parent->path);

    return failure_set(failure, FAILURE_REQUEST, "%s %s\n%s", path, message, hint);
}

static int
check_type(const struct manifest *manifest, json_type type, struct failure **failure)
{
    json_type found = json_typeof(manifest->value);

    if (found == type)
        return 0;
    failure_set(failure, FAILURE_REQUEST, "%s is %s, expected %s", manifest->path,
                type_name(found), type_name(type));
    if (type == JSON_STRING && found != JSON_OBJECT && found != JSON_ARRAY)
        return failure_hint(failure, "put it into quotes");
    return failure_hint(failure, "write %s there", type_name(type));
}

int
manifest_get(struct manifest *field, const struct manifest *parent, const char *key,
             json_type type, struct failure **failure)
{
    const json_t *value = json_object_get(parent->value, key);

    *field = (struct manifest){
        .value = json_is_null(value) ? NULL : value,
        .path = manifest_path(parent, key),
    };
    return field->value ? check_type(field, type, failure) : 0;
}

int
manifest_get_item(struct manifest *item, const struct manifest *parent, size_t index,
                  json_type type, struct failure **failure)
{
    *item = (struct manifest){
        .value = json_array_get(parent->value, index),
        .path = xasprintf("%s[%zu]", parent->path, index),
    };
    return check_type(item, type, failure);
}

int
manifest_get_text(const char **text, const struct manifest *parent, const char *key,
                  struct failure **failure)
{
    cleanup_manifest struct manifest field = {0};

    *text = NULL;
    if (manifest_get(&field, parent, key, JSON_STRING, failure) < 0)
        return -1;
    if (field.value && *json_string_value(field.value))
        *text = json_string_value(field.value);
    return 0;
}

int
manifest_check_fields(const struct manifest *manifest, const char *const *known,
                      const char *hint, struct failure **failure)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)manifest->value, key, value)
    {
        const char *const *match = known;

        while (*match && strcmp(*match, key) != 0)
            match++;
        if (!*match)
            return manifest_fail(manifest, key, "is no field that can be imported", hint,
                                 failure);
    }
    return 0;
}
