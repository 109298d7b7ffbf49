/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <math.h>

#include "base/json.h"
#include "seed/yaml.h"

static json_t *
refuse_node(const struct yaml_node *node, const char *problem, const char *hint,
            struct failure **failure)
{
    yaml_fail(node->line, FAILURE_YAML, problem, hint, failure);
    return NULL;
}

/* In a stream, where others' fields may be unsigned, a number too large for an integer
 * becomes a real one. */
static json_t *
load_scalar(const struct yaml_node *node, enum yaml_shape shape, struct failure **failure)
{
    double real;

    switch (node->type) {
    case YAML_NULL:
        return json_null();
    case YAML_BOOLEAN:
        return json_boolean(node->value.boolean);
    case YAML_INTEGER:
        if (!node->huge)
            return json_integer(node->value.integer);
        if (shape == YAML_APPROXIMATE)
            return json_integer(0);
        real = strtod(node->text, NULL);
        if (shape == YAML_STREAM && isfinite(real))
            return json_real(real);
        break;
    case YAML_FLOAT:
        if (isfinite(node->value.real))
            return json_real(node->value.real);
        if (shape == YAML_APPROXIMATE)
            return json_real(0);
        break;
    case YAML_BINARY:
        if (shape == YAML_APPROXIMATE)
            return json_string("");
        return refuse_node(node, "JSON cannot hold bytes ('!!binary')", "remove the tag",
                           failure);
    case YAML_TEXT:
    case YAML_TIMESTAMP:
    case YAML_MERGE:
        if (strlen(node->text) == node->length || shape == YAML_APPROXIMATE)
            return json_string(node->text);
        return refuse_node(node, "a text has a NUL character", "remove it", failure);
    }
    return refuse_node(node, "a number is too large, or none (.nan)",
                       "quote it if it is text", failure);
}

static json_t *load_node(const struct yaml_node *node, enum yaml_shape shape,
                         struct failure **failure);

static json_t *
load_mapping(const struct yaml_node *node, enum yaml_shape shape,
             struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    cleanup_json json_t *object = json_object();
    cleanup_json json_t *merged = json_object();

    yaml_foreach(item, node) {
        const struct yaml_node *key = item->key;
        json_t *value;

        if (key->type == YAML_MERGE) {
            cleanup_json json_t *loaded = load_node(item->value, shape, failure);

            if (!loaded)
                return NULL;
            if (json_is_object(loaded))
                json_must(json_object_update(merged, loaded));
            /* Like PyYAML, takes a key's value from the first mapping that has it. */
            for (size_t i = json_array_size(loaded); i > 0; i--)
                json_must(json_object_update(merged, json_array_get(loaded, i - 1)));
            continue;
        }
        if (strlen(key->text) != key->length && shape != YAML_APPROXIMATE)
            return refuse_node(key, "a key has a NUL character", "remove it", failure);
        if (json_object_get(object, key->text) && shape != YAML_APPROXIMATE)
            return refuse_node(key, "duplicate key", "keep one of them", failure);
        value = load_node(item->value, shape, failure);
        if (!value)
            return NULL;
        json_set(object, key->text, value);
    }
    json_must(json_object_update_missing(object, merged));
    return steal(object);
}

static json_t *
load_node(const struct yaml_node *node, enum yaml_shape shape,
          struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    cleanup_json json_t *array = NULL;

    if (node->kind == YAML_SCALAR)
        return load_scalar(node, shape, failure);
    if (node->kind == YAML_MAPPING)
        return load_mapping(node, shape, failure);
    array = json_array();
    yaml_foreach(item, node) {
        json_t *value = load_node(item->value, shape, failure);

        if (!value)
            return NULL;
        json_add(array, value);
    }
    return steal(array);
}

json_t *
yaml_load(const char *data, size_t size, enum yaml_shape shape, struct failure **failure)
{
    cleanup_yaml struct yaml yaml = {0};

    if (yaml_read(&yaml, data, size, shape, failure) < 0)
        return NULL;
    return yaml.root ? load_node(yaml.root, shape, failure) : json_null();
}

/* All characters that are escaped are in strings. */
void
yaml_text_append(struct buffer *buffer, const json_t *json)
{
    cleanup_free char *text = json_text(json);
    const unsigned char *begin = (const unsigned char *)text;
    const unsigned char *at = begin;

    while (*at) {
        char escape[sizeof("\\uXXXX")];
        unsigned int code = 0;
        size_t length = 0;

        if (at[0] == 0x7f) {
            length = 1;
            code = 0x7f;
        } else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) {
            length = 2;
            code = at[1];
        } else if (memcmp(at, "\xef\xbf", 2) == 0 && at[2] >= 0xbe) {
            length = 3; /* U+FFFE and U+FFFF */
            code = at[2] == 0xbe ? 0xfffe : 0xffff;
        } else if (memcmp(at, "\xe2\x80", 2) == 0 && (at[2] == 0xa8 || at[2] == 0xa9)) {
            length = 3;
            code = 0x2000U + (at[2] - 0x80U);
        } else {
            at++;
            continue;
        }
        buffer_append(buffer, begin, (size_t)(at - begin));
        snprintf(escape, sizeof(escape), "\\u%04x", code & 0xffff);
        buffer_append_string(buffer, escape);
        at += length;
        begin = at;
    }
    buffer_append(buffer, begin, (size_t)(at - begin));
}
