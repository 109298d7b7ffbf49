/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jansson's values, released by scope, and what is made of text that is UTF-8: it was in
 * XML, or was looked at before; jansson can only run out of memory there, which
 * aborts. */
#pragma once

#include <jansson.h>

#include "base/base.h"

static inline void
json_decref_pointer(json_t **json)
{
    json_decref(*json);
}

#define cleanup_json __attribute__((cleanup(json_decref_pointer)))

static inline void
json_must(int result)
{
    if (result < 0)
        abort();
}

/* Put a value into an object, or at the end of an array, which takes it over. */
static inline void
json_set(json_t *object, const char *key, json_t *value)
{
    json_must(json_object_set_new(object, key, value));
}

static inline void
json_add(json_t *array, json_t *value)
{
    json_must(json_array_append_new(array, value));
}

static inline void
json_set_string(json_t *object, const char *key, const char *value)
{
    json_set(object, key, json_string(value));
}

/* Return: a list of the texts, owned by the caller. */
static inline json_t *
json_texts(char *const *texts, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_add(list, json_string(texts[i]));
    return list;
}

/* Sets such a list, unless it is empty. */
static inline void
json_set_texts(json_t *object, const char *key, char *const *texts, size_t count)
{
    if (count > 0)
        json_set(object, key, json_texts(texts, count));
}

/*
 * Text of files and secrets, which was found to be UTF-8 at a cold boot
 * (seed_check_part()). A document that has changed since must not keep a guest from being
 * resumed, so what is not UTF-8 becomes '?'. Return: the string, owned by the caller.
 */
static inline json_t *
json_outside_string(const char *text)
{
    json_t *string = json_string(text);
    cleanup_free char *copy = string ? NULL : xstrdup(text);

    if (string)
        return string;
    utf8_repair(copy);
    return json_string(copy);
}

/* Return: the value as a document, with a line's end, owned by the caller (free). */
static inline char *
json_text(const json_t *json)
{
    cleanup_free char *text = xchecked(json_dumps(json, JSON_INDENT(2)));

    return xasprintf("%s\n", text);
}

/* Appends the same to a document. */
static inline void
json_append(struct buffer *buffer, const json_t *json)
{
    cleanup_free char *text = json_text(json);

    buffer_append_string(buffer, text);
}
