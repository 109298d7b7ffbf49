/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libyaml's events are walked once. A stack holds, for each collection
 * that is open, whether it is a mapping and, if so, whether the next node is a key; of
 * the outermost mappings it holds the key as well, so that a query's path can be
 * compared.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/limits.h"
#include "base/memory.h"
#include "seed/yaml.h"

/* Queries reach this deep. */
#define KEY_LEVELS 2

struct level {
    bool mapping;
    bool key_next;
    char *key; /* above KEY_LEVELS, else NULL */
};

struct reader {
    yaml_parser_t parser;
    enum yaml_root root;
    struct yaml_query *queries;
    size_t query_count;
    struct level levels[LIMIT_YAML_DEPTH];
    size_t depth;
    unsigned long documents;
    unsigned long aliases;
    char *anchors[LIMIT_YAML_ANCHORS];
    size_t anchor_count;
};

static int
fail_at(struct failure **failure, const yaml_mark_t *mark, const char *problem,
        const char *hint)
{
    failure_set(failure, FAILURE_YAML, "line %zu: %s", mark->line + 1, problem);
    return failure_hint(failure, "%s", hint);
}

static int
fail_parser(const yaml_parser_t *parser, struct failure **failure)
{
    const yaml_mark_t *mark = &parser->problem_mark;

    if (parser->error == YAML_READER_ERROR) {
        failure_set(failure, FAILURE_YAML, "not YAML at byte %zu: %s",
                    parser->problem_offset, parser->problem);
    } else if (parser->context) {
        failure_set(failure, FAILURE_YAML, "line %zu, column %zu: not YAML: %s: %s",
                    mark->line + 1, mark->column + 1, parser->context, parser->problem);
    } else {
        failure_set(failure, FAILURE_YAML, "line %zu, column %zu: not YAML: %s",
                    mark->line + 1, mark->column + 1, parser->problem);
    }
    return failure_hint(failure, "mend the YAML: the guest could not read it either");
}

/* What safe_load knows (PyYAML, constructor.py), and cloud-init's safeyaml adds. */
static bool
is_known_tag(const char *tag)
{
    static const char *const known[] = {
        "null",  "bool", "int", "float", "binary", "timestamp",      "omap",
        "pairs", "set",  "str", "seq",   "map",    "python/unicode",
    };
    const char *prefix = "tag:yaml.org,2002:";

    if (strcmp(tag, "!") == 0)
        return true;
    if (strncmp(tag, prefix, strlen(prefix)) != 0)
        return false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(tag + strlen(prefix), known[i]) == 0)
            return true;
    }
    return false;
}

static int
check_tag(const yaml_event_t *event, const yaml_char_t *tag, struct failure **failure)
{
    if (!tag || is_known_tag((const char *)tag))
        return 0;
    return fail_at(failure, &event->start_mark, "has a tag ('!…') that cloud-init lacks",
                   "cloud-init reads plain YAML: remove the tag");
}

static int
note_anchor(struct reader *reader, const yaml_event_t *event, const yaml_char_t *anchor,
            struct failure **failure)
{
    if (!anchor)
        return 0;
    if (reader->anchor_count == LIMIT_YAML_ANCHORS)
        return fail_at(failure, &event->start_mark, "more than 1000 anchors",
                       "write out what they stand for");
    for (size_t i = 0; i < reader->anchor_count; i++) {
        if (strcmp(reader->anchors[i], (const char *)anchor) == 0)
            return fail_at(failure, &event->start_mark, "an anchor ('&…') is there twice",
                           "give each a name of its own");
    }
    reader->anchors[reader->anchor_count++] = xstrdup((const char *)anchor);
    return 0;
}

static int
check_alias(struct reader *reader, const yaml_event_t *event, struct failure **failure)
{
    const char *name = (const char *)event->data.alias.anchor;

    if (++reader->aliases > LIMIT_YAML_ALIASES)
        return fail_at(failure, &event->start_mark, "more than 1000 aliases",
                       "write out what they stand for");
    for (size_t i = 0; i < reader->anchor_count; i++) {
        if (strcmp(reader->anchors[i], name) == 0)
            return 0;
    }
    return fail_at(failure, &event->start_mark,
                   "an alias ('*…') without its anchor ('&…')",
                   "quote the text if it is no alias");
}

static int
check_root(const struct reader *reader, const yaml_event_t *event,
           struct failure **failure)
{
    bool empty = event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0;
    yaml_event_type_t expected = reader->root == YAML_MAPPING ? YAML_MAPPING_START_EVENT
                                                              : YAML_SEQUENCE_START_EVENT;

    if (reader->depth > 0 || empty || event->type == expected)
        return 0;
    return fail_at(failure, &event->start_mark,
                   reader->root == YAML_MAPPING ? "not a mapping of keys and values"
                                                : "not a list",
                   reader->root == YAML_MAPPING ? "write 'key: value' lines"
                                                : "write a list of '- …' items");
}

static bool
path_matches(const struct reader *reader, const struct yaml_query *query)
{
    size_t depth = 0;

    while (query->path[depth])
        depth++;
    if (depth != reader->depth)
        return false;
    for (size_t i = 0; i < depth; i++) {
        const char *key = reader->levels[i].key;

        if (!reader->levels[i].mapping || !key || strcmp(key, query->path[i]) != 0)
            return false;
    }
    return true;
}

static void
answer_queries(const struct reader *reader, const yaml_event_t *event)
{
    for (size_t i = 0; i < reader->query_count; i++) {
        struct yaml_query *query = &reader->queries[i];

        if (!path_matches(reader, query))
            continue;
        free(query->value);
        query->value =
            xstrndup((const char *)event->data.scalar.value, event->data.scalar.length);
    }
}

/* One node begins. Return: whether it is a key of the mapping that is open. */
static bool
take_turn(struct reader *reader)
{
    struct level *level;
    bool key;

    if (reader->depth == 0)
        return false;
    level = &reader->levels[reader->depth - 1];
    key = level->mapping && level->key_next;
    level->key_next = !level->key_next;
    return key;
}

static void
read_scalar(struct reader *reader, const yaml_event_t *event)
{
    if (!take_turn(reader)) {
        answer_queries(reader, event);
    } else if (reader->depth <= KEY_LEVELS) {
        struct level *level = &reader->levels[reader->depth - 1];

        free(level->key);
        level->key =
            xstrndup((const char *)event->data.scalar.value, event->data.scalar.length);
    }
}

static int
open_collection(struct reader *reader, const yaml_event_t *event,
                struct failure **failure)
{
    bool mapping = event->type == YAML_MAPPING_START_EVENT;

    /* A list or a mapping as a key cannot be a key in Python. */
    if (take_turn(reader))
        return fail_at(failure, &event->start_mark, "a collection stands as a key",
                       "write the key as plain text");
    if (reader->depth == LIMIT_YAML_DEPTH)
        return fail_at(failure, &event->start_mark, "nested deeper than 64 levels",
                       "write it flatter");
    reader->levels[reader->depth++] =
        (struct level){.mapping = mapping, .key_next = mapping};
    return 0;
}

static void
close_collection(struct reader *reader)
{
    free(reader->levels[--reader->depth].key);
}

static int
read_event(struct reader *reader, const yaml_event_t *event, struct failure **failure)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (reader->documents++ > 0)
            return fail_at(failure, &event->start_mark, "a second document begins",
                           "remove the '---': there may be one document");
        return 0;
    case YAML_ALIAS_EVENT:
        take_turn(reader);
        return check_alias(reader, event, failure);
    case YAML_SCALAR_EVENT:
        if (check_root(reader, event, failure) < 0 ||
            check_tag(event, event->data.scalar.tag, failure) < 0 ||
            note_anchor(reader, event, event->data.scalar.anchor, failure) < 0)
            return -1;
        read_scalar(reader, event);
        return 0;
    case YAML_SEQUENCE_START_EVENT:
        if (check_root(reader, event, failure) < 0 ||
            check_tag(event, event->data.sequence_start.tag, failure) < 0 ||
            note_anchor(reader, event, event->data.sequence_start.anchor, failure) < 0)
            return -1;
        return open_collection(reader, event, failure);
    case YAML_MAPPING_START_EVENT:
        if (check_root(reader, event, failure) < 0 ||
            check_tag(event, event->data.mapping_start.tag, failure) < 0 ||
            note_anchor(reader, event, event->data.mapping_start.anchor, failure) < 0)
            return -1;
        return open_collection(reader, event, failure);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_collection(reader);
        return 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return 0;
}

static int
read_events(struct reader *reader, struct failure **failure)
{
    for (unsigned long count = 0; count < LIMIT_YAML_EVENTS; count++) {
        yaml_event_t event;
        bool last;
        int result;

        if (!yaml_parser_parse(&reader->parser, &event))
            return fail_parser(&reader->parser, failure);
        last = event.type == YAML_STREAM_END_EVENT;
        result = read_event(reader, &event, failure);
        yaml_event_delete(&event);
        if (result < 0 || last)
            return result;
    }
    failure_set(failure, FAILURE_LIMIT, "more than %d nodes", LIMIT_YAML_EVENTS);
    return failure_hint(failure, "split the document");
}

/* Of many %TAG directives libyaml compares each with all before it. */
static int
check_directives(const char *data, size_t size, struct failure **failure)
{
    const char *end = data + size;
    int count = 0;

    for (const char *line = data; line && line < end;
         line = memchr(line, '\n', (size_t)(end - line)), line = line ? line + 1 : NULL)
        count += *line == '%';
    if (count <= LIMIT_YAML_DIRECTIVES)
        return 0;
    failure_set(failure, FAILURE_LIMIT, "more than %d lines begin with '%%'",
                LIMIT_YAML_DIRECTIVES);
    return failure_hint(failure, "cloud-init's documents need no %%TAG");
}

int
yaml_read(const char *data, size_t size, enum yaml_root root, struct yaml_query *queries,
          size_t query_count, struct failure **failure)
{
    struct reader reader = {.root = root, .queries = queries, .query_count = query_count};
    int result;

    if (size > 0 && check_directives(data, size, failure) < 0)
        return -1;
    if (!yaml_parser_initialize(&reader.parser))
        abort();
    /* cloud-init decodes it as UTF-8, whatever its first bytes say. */
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)data, size);
    result = read_events(&reader, failure);
    while (reader.depth > 0)
        close_collection(&reader);
    for (size_t i = 0; i < reader.anchor_count; i++)
        free(reader.anchors[i]);
    yaml_parser_delete(&reader.parser);
    return result;
}
