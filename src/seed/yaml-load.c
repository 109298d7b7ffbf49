/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libyaml's events are walked once. A stack holds the collections that are
 * open; what is complete is added to the one above it, or to the list of documents. With
 * each value goes its measure: how large it would be with its aliases written out, and how
 * deep. So a bomb is refused at the alias that would make it one, and neither those who
 * walk the values nor jansson, which frees them recursively, can be led astray.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "seed/yaml-events.h"
#include "seed/yaml-load.h"
#include "seed/yaml-value.h"

struct measure {
    size_t size; /* at most LIMIT_YAML_EXPANDED */
    size_t depth;
};

struct anchor {
    char *name;
    json_t *value; /* owned; NULL while its collection is open */
    char *key;     /* a scalar's text, for an alias that is a key; else NULL */
    struct measure measure;
};

struct level {
    json_t *value;  /* the collection; owned */
    json_t *merged; /* what '<<' brings into a mapping, or NULL; owned */
    char *key;      /* of a mapping, where a value comes next; owned */
    bool merging;   /* that key is '<<' */
    struct anchor *anchor;
    struct measure measure;
};

struct loader {
    enum yaml_keys keys;
    bool single; /* there may be one document */
    json_t *documents;
    struct level levels[LIMIT_YAML_DEPTH];
    size_t depth;
    struct anchor anchors[LIMIT_YAML_ANCHORS];
    size_t anchor_count;
    unsigned long aliases;
    unsigned long values;
};

/* --- failures --------------------------------------------------------------------- */

static int
fail_at(const yaml_mark_t *mark, enum failure_code code, const char *problem,
        const char *hint, struct failure **failure)
{
    failure_set(failure, code, "line %zu: %s", mark->line + 1, problem);
    return failure_hint(failure, "%s", hint);
}

/* --- measures --------------------------------------------------------------------- */

static int
count_values(struct loader *loader, const yaml_mark_t *mark, size_t count,
             struct failure **failure)
{
    loader->values += count;
    if (loader->values <= LIMIT_YAML_VALUES)
        return 0;
    return fail_at(mark, FAILURE_LIMIT, "more than 200000 values", "split the document",
                   failure);
}

static void
measure_add(struct measure *measure, const struct measure *child)
{
    measure->size += child->size;
    if (measure->depth < child->depth + 1)
        measure->depth = child->depth + 1;
}

static int
check_measure(const struct loader *loader, const yaml_mark_t *mark,
              const struct measure *child, struct failure **failure)
{
    if (loader->depth + child->depth > LIMIT_YAML_DEPTH)
        return fail_at(mark, FAILURE_LIMIT, "nested deeper than 64 levels",
                       "write it flatter", failure);
    /* Each level's size includes only what is closed below it. */
    for (size_t i = 0, size = child->size; i < loader->depth; i++) {
        size += loader->levels[i].measure.size;
        if (size > LIMIT_YAML_EXPANDED)
            return fail_at(mark, FAILURE_LIMIT,
                           "more than 16 MiB, with its aliases ('*…') written out",
                           "use fewer aliases", failure);
    }
    return 0;
}

/* --- adding values ---------------------------------------------------------------- */

static int
merge_mapping(struct loader *loader, const yaml_mark_t *mark, json_t *mapping,
              struct failure **failure)
{
    struct level *level = &loader->levels[loader->depth - 1];

    if (!json_is_object(mapping))
        return fail_at(mark, FAILURE_YAML, "'<<' has no mapping to merge",
                       "give it a mapping, or quote it", failure);
    if (count_values(loader, mark, json_object_size(mapping), failure) < 0)
        return -1;
    if (!level->merged)
        level->merged = json_object();
    if (!level->merged || json_object_update(level->merged, mapping) < 0)
        abort();
    return 0;
}

/* Of a list of mappings the first that has a key gives its value; PyYAML's
 * flatten_mapping(). */
static int
merge(struct loader *loader, const yaml_mark_t *mark, json_t *value,
      struct failure **failure)
{
    if (!json_is_array(value))
        return merge_mapping(loader, mark, value, failure);
    for (size_t i = json_array_size(value); i > 0; i--) {
        if (merge_mapping(loader, mark, json_array_get(value, i - 1), failure) < 0)
            return -1;
    }
    return 0;
}

static int
add_to_mapping(struct loader *loader, const yaml_mark_t *mark, json_t *value,
               struct failure **failure)
{
    struct level *level = &loader->levels[loader->depth - 1];
    cleanup_free char *key = steal(level->key);

    if (level->merging) {
        level->merging = false;
        return merge(loader, mark, value, failure);
    }
    if (loader->keys == YAML_KEYS_UNIQUE && json_object_get(level->value, key))
        return fail_at(mark, FAILURE_YAML, "a key is there twice", "keep one of them",
                       failure);
    if (json_object_set(level->value, key, value) < 0)
        abort();
    return 0;
}

/* Adds what is complete to what is open. */
static int
add_value(struct loader *loader, const yaml_mark_t *mark, json_t *value,
          const struct measure *measure, struct failure **failure)
{
    json_t *parent = loader->documents;

    if (loader->depth > 0) {
        struct level *level = &loader->levels[loader->depth - 1];

        if (check_measure(loader, mark, measure, failure) < 0)
            return -1;
        measure_add(&level->measure, measure);
        parent = level->value;
    }
    if (json_is_object(parent))
        return add_to_mapping(loader, mark, value, failure);
    if (json_array_append(parent, value) < 0)
        abort();
    return 0;
}

/* Return: whether what comes next is the key of a mapping. */
static bool
key_is_next(const struct loader *loader)
{
    const struct level *level =
        loader->depth > 0 ? &loader->levels[loader->depth - 1] : NULL;

    return level && json_is_object(level->value) && !level->key;
}

static int
fail_key(const yaml_mark_t *mark, struct failure **failure)
{
    return fail_at(mark, FAILURE_YAML, "a collection stands as a key",
                   "write the key as plain text", failure);
}

/* --- anchors ---------------------------------------------------------------------- */

static struct anchor *
find_anchor(struct loader *loader, const yaml_char_t *name)
{
    for (size_t i = 0; i < loader->anchor_count; i++) {
        if (strcmp(loader->anchors[i].name, (const char *)name) == 0)
            return &loader->anchors[i];
    }
    return NULL;
}

/* `anchor` gets NULL where the event has none. */
static int
add_anchor(struct loader *loader, const yaml_mark_t *mark, const yaml_char_t *name,
           struct anchor **anchor, struct failure **failure)
{
    *anchor = NULL;
    if (!name)
        return 0;
    if (loader->anchor_count == LIMIT_YAML_ANCHORS)
        return fail_at(mark, FAILURE_LIMIT, "more than 1000 anchors",
                       "write out what they stand for", failure);
    if (find_anchor(loader, name))
        return fail_at(mark, FAILURE_YAML, "an anchor ('&…') is there twice",
                       "give each a name of its own", failure);
    *anchor = &loader->anchors[loader->anchor_count++];
    **anchor = (struct anchor){.name = xstrdup((const char *)name)};
    return 0;
}

static void
forget_anchors(struct loader *loader)
{
    for (size_t i = 0; i < loader->anchor_count; i++) {
        free(loader->anchors[i].name);
        free(loader->anchors[i].key);
        json_decref(loader->anchors[i].value);
    }
    loader->anchor_count = 0;
}

/* --- events ----------------------------------------------------------------------- */

static int
take_key(struct loader *loader, const char *text, bool merging)
{
    struct level *level = &loader->levels[loader->depth - 1];

    level->key = xstrdup(text);
    level->merging = merging;
    level->measure.size += strlen(text);
    return 0;
}

static int
load_alias(struct loader *loader, const yaml_event_t *event, struct failure **failure)
{
    const yaml_mark_t *mark = &event->start_mark;
    const struct anchor *anchor = find_anchor(loader, event->data.alias.anchor);

    if (++loader->aliases > LIMIT_YAML_ALIASES)
        return fail_at(mark, FAILURE_LIMIT, "more than 1000 aliases",
                       "write out what they stand for", failure);
    if (!anchor)
        return fail_at(mark, FAILURE_YAML, "an alias ('*…') without its anchor ('&…')",
                       "quote the text if it is no alias", failure);
    if (!anchor->value)
        return fail_at(mark, FAILURE_YAML, "an alias stands within its own anchor",
                       "write out what it stands for", failure);
    if (!key_is_next(loader))
        return add_value(loader, mark, anchor->value, &anchor->measure, failure);
    return anchor->key ? take_key(loader, anchor->key, false) : fail_key(mark, failure);
}

static int
load_scalar(struct loader *loader, const yaml_event_t *event, struct failure **failure)
{
    const yaml_mark_t *mark = &event->start_mark;
    const char *text = (const char *)event->data.scalar.value;
    const struct measure measure = {.size = event->data.scalar.length + 1};
    cleanup_json json_t *value = NULL;
    struct anchor *anchor;

    if (key_is_next(loader) && event->data.scalar.plain_implicit &&
        strcmp(text, "<<") == 0)
        return take_key(loader, text, true);
    value = yaml_scalar_value(event, failure);
    if (!value || count_values(loader, mark, 1, failure) < 0 ||
        add_anchor(loader, mark, event->data.scalar.anchor, &anchor, failure) < 0)
        return -1;
    if (anchor) {
        anchor->value = json_incref(value);
        anchor->key = xstrdup(text);
        anchor->measure = measure;
    }
    if (key_is_next(loader))
        return take_key(loader, text, false);
    return add_value(loader, mark, value, &measure, failure);
}

static int
check_tag(const yaml_mark_t *mark, const yaml_char_t *tag, const char *kind,
          struct failure **failure)
{
    cleanup_free char *standard = xasprintf("tag:yaml.org,2002:%s", kind);

    if (!tag || strcmp((const char *)tag, "!") == 0 ||
        strcmp((const char *)tag, standard) == 0)
        return 0;
    return fail_at(mark, FAILURE_YAML, "has a tag ('!…') that JSON has no values for",
                   "remove the tag", failure);
}

static int
open_collection(struct loader *loader, const yaml_event_t *event, json_t *value,
                const yaml_char_t *name, struct failure **failure)
{
    const yaml_mark_t *mark = &event->start_mark;
    struct level *level;

    if (key_is_next(loader)) {
        json_decref(value);
        return fail_key(mark, failure);
    }
    if (loader->depth == LIMIT_YAML_DEPTH) {
        json_decref(value);
        return fail_at(mark, FAILURE_LIMIT, "nested deeper than 64 levels",
                       "write it flatter", failure);
    }
    level = &loader->levels[loader->depth++];
    *level = (struct level){.value = value, .measure = {.size = 1, .depth = 1}};
    if (!value)
        abort();
    if (count_values(loader, mark, 1, failure) < 0)
        return -1;
    return add_anchor(loader, mark, name, &level->anchor, failure);
}

static void
level_clear(struct level *level)
{
    json_decref(level->value);
    json_decref(level->merged);
    free(level->key);
    *level = (struct level){0};
}

static int
close_collection(struct loader *loader, const yaml_event_t *event,
                 struct failure **failure)
{
    struct level closed = loader->levels[--loader->depth];
    int result;

    if (closed.merged && json_object_update_missing(closed.value, closed.merged) < 0)
        abort();
    if (closed.anchor) {
        closed.anchor->value = json_incref(closed.value);
        closed.anchor->measure = closed.measure;
    }
    result =
        add_value(loader, &event->start_mark, closed.value, &closed.measure, failure);
    level_clear(&closed);
    return result;
}

static int
load_event(void *data, const yaml_event_t *event, struct failure **failure)
{
    struct loader *loader = data;

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (loader->single && json_array_size(loader->documents) > 0)
            return fail_at(&event->start_mark, FAILURE_YAML, "a second document begins",
                           "remove the '---': there may be one document", failure);
        return 0;
    case YAML_ALIAS_EVENT:
        return load_alias(loader, event, failure);
    case YAML_SCALAR_EVENT:
        return load_scalar(loader, event, failure);
    case YAML_SEQUENCE_START_EVENT:
        if (check_tag(&event->start_mark, event->data.sequence_start.tag, "seq",
                      failure) < 0)
            return -1;
        return open_collection(loader, event, json_array(),
                               event->data.sequence_start.anchor, failure);
    case YAML_MAPPING_START_EVENT:
        if (check_tag(&event->start_mark, event->data.mapping_start.tag, "map", failure) <
            0)
            return -1;
        return open_collection(loader, event, json_object(),
                               event->data.mapping_start.anchor, failure);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_collection(loader, event, failure);
    case YAML_DOCUMENT_END_EVENT:
        forget_anchors(loader);
        return 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
        break;
    }
    return 0;
}

/* --- documents -------------------------------------------------------------------- */

static json_t *
load(const char *data, size_t size, enum yaml_keys keys, bool single,
     struct failure **failure)
{
    cleanup_free struct loader *loader = xcalloc(1, sizeof(*loader));
    cleanup_json json_t *documents = json_array();
    int result;

    if (size > LIMIT_PART) {
        failure_set(failure, FAILURE_LIMIT, "more than %lu MiB", LIMIT_PART / MIB);
        failure_hint(failure, "split the document");
        return NULL;
    }
    loader->keys = keys;
    loader->single = single;
    loader->documents = documents;
    result = yaml_walk(data, size, load_event, loader, failure);
    while (loader->depth > 0)
        level_clear(&loader->levels[--loader->depth]);
    forget_anchors(loader);
    return result < 0 ? NULL : steal(documents);
}

json_t *
yaml_load_all(const char *data, size_t size, enum yaml_keys keys,
              struct failure **failure)
{
    return load(data, size, keys, false, failure);
}

json_t *
yaml_load(const char *data, size_t size, enum yaml_keys keys, struct failure **failure)
{
    cleanup_json json_t *documents = load(data, size, keys, true, failure);

    if (!documents)
        return NULL;
    return json_array_size(documents) > 0 ? json_incref(json_array_get(documents, 0))
                                          : json_null();
}
