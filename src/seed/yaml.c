/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a single walk over libyaml's events, in which read_node() calls itself for
 * the content of a collection. It counts each node and its text at its beginning, and for
 * an alias everything that the alias stands for. So it stops at a document that would be
 * too large or too deep with its aliases expanded.
 */
#include "config.h"

#include <yaml.h>

#include "seed/yaml.h"

/* Most documents fit into one. */
#define CHUNK_SIZE (16 * KIB)

#define obstack_chunk_alloc xmalloc
#define obstack_chunk_free free

#define cleanup_event __attribute__((cleanup(yaml_event_delete)))

/* What is written out in its place, and what it has been measured to be. */
struct anchor {
    const char *name;
    const struct yaml_node *node;
    size_t nodes; /* 0 until its end is read */
    size_t bytes;
    struct anchor *next;
};

struct reader {
    yaml_parser_t parser;
    struct yaml *yaml;
    bool keeps_text; /* of scalars; who only checks a document needs none of it */
    bool sort_keys;  /* refuse what Python cannot sort */
    struct anchor *anchors;
    int anchor_count;
    int alias_count;
    int depth;
    bool flow; /* in brackets or braces */
    /* So far, with aliases expanded. */
    size_t nodes;
    size_t bytes;
};

int
yaml_fail(int line, enum failure_code code, const char *problem, const char *hint,
          struct failure **failure)
{
    failure_set(failure, code, "%s\n%s", problem, hint);
    return failure_in_line(failure, line);
}

/* Return: memory that yaml_clear() frees. */
static void *
allocate(struct reader *reader, size_t size)
{
    return obstack_alloc(&reader->yaml->memory, size);
}

void
yaml_clear(struct yaml *yaml)
{
    if (yaml->memory.chunk)
        obstack_free(&yaml->memory, NULL);
    *yaml = (struct yaml){0};
}

static int
line_of(const yaml_event_t *event)
{
    return (int)event->start_mark.line + 1;
}

/* --- events ----------------------------------------------------------------------- */

/* Deletes the event before it. */
static int
next_event(struct reader *reader, yaml_event_t *event, struct failure **failure)
{
    const yaml_parser_t *parser = &reader->parser;

    yaml_event_delete(event);
    if (yaml_parser_parse(&reader->parser, event))
        return 0;
    if (parser->error == YAML_READER_ERROR)
        return failure_set(failure, FAILURE_YAML,
                           "not YAML at byte %zu: %s\nsave it as UTF-8 text",
                           parser->problem_offset, parser->problem);
    failure_set(failure, FAILURE_YAML, "line %zu, column %zu: not YAML: %s%s%s",
                parser->problem_mark.line + 1, parser->problem_mark.column + 1,
                parser->context ? parser->context : "", parser->context ? ": " : "",
                parser->problem);
    (*failure)->part_line = (int)parser->problem_mark.line + 1;
    if (strcmp(parser->problem, "found unexpected ':'") != 0)
        return failure_hint(failure, "look there and in the lines before: close brackets "
                                     "and quotes, and indent with spaces");
    return failure_hint(failure, "write a space after the ':'");
}

/* --- nodes ------------------------------------------------------------------------ */

static int
count(struct reader *reader, int line, size_t nodes, size_t bytes,
      struct failure **failure)
{
    reader->nodes += nodes;
    reader->bytes += bytes;
    if (reader->nodes > LIMIT_YAML_NODES)
        return yaml_fail(line, FAILURE_LIMIT,
                         "more than 500000 values, with its aliases ('*…') written out",
                         "split the document, or use fewer aliases", failure);
    if (reader->bytes > LIMIT_YAML_BYTES)
        return yaml_fail(line, FAILURE_LIMIT,
                         "more than 16 MiB, with its aliases ('*…') written out",
                         "use fewer aliases", failure);
    return 0;
}

static int
check_depth(const struct reader *reader, int line, int height, struct failure **failure)
{
    if (reader->depth + height <= LIMIT_YAML_DEPTH)
        return 0;
    return yaml_fail(line, FAILURE_LIMIT, "nested deeper than 64 levels",
                     "write it flatter", failure);
}

static struct anchor *
find_anchor(const struct reader *reader, const char *name)
{
    struct anchor *anchor = reader->anchors;

    while (anchor && strcmp(anchor->name, name) != 0)
        anchor = anchor->next;
    return anchor;
}

static const struct yaml_node *
read_alias(struct reader *reader, const yaml_event_t *event, struct failure **failure)
{
    const struct anchor *anchor =
        find_anchor(reader, (const char *)event->data.alias.anchor);
    const int line = line_of(event);

    if (++reader->alias_count > LIMIT_YAML_ALIASES)
        yaml_fail(line, FAILURE_LIMIT, "more than 1000 aliases",
                  "write out what they stand for", failure);
    else if (!anchor)
        yaml_fail(line, FAILURE_YAML, "an alias ('*…') without its anchor ('&…')",
                  "quote the text if it is not an alias", failure);
    else if (anchor->nodes == 0)
        yaml_fail(line, FAILURE_YAML, "an alias ('*…') is inside what it stands for",
                  "write out what it stands for", failure);
    else if (count(reader, line, anchor->nodes, anchor->bytes, failure) == 0 &&
             check_depth(reader, line, anchor->node->height, failure) == 0)
        return anchor->node;
    return NULL;
}

static struct anchor *
add_anchor(struct reader *reader, const struct yaml_node *node, const char *name,
           struct failure **failure)
{
    struct anchor *anchor;

    if (++reader->anchor_count > LIMIT_YAML_ANCHORS) {
        yaml_fail(node->line, FAILURE_LIMIT, "more than 1000 anchors",
                  "write out what they stand for", failure);
        return NULL;
    }
    if (find_anchor(reader, name)) {
        yaml_fail(node->line, FAILURE_YAML, "duplicate anchor ('&…')",
                  "give each a name of its own", failure);
        return NULL;
    }
    anchor = allocate(reader, sizeof(*anchor));
    *anchor = (struct anchor){
        .name = obstack_copy0(&reader->yaml->memory, name, strlen(name)),
        .node = node,
        .next = reader->anchors,
    };
    reader->anchors = anchor;
    return anchor;
}

static const struct yaml_node *read_node(struct reader *reader, const yaml_event_t *event,
                                         bool is_key, struct failure **failure);

/* Return: the item that begins with the event, or NULL. */
static struct yaml_item *
read_item(struct reader *reader, yaml_event_t *event, enum yaml_kind kind,
          struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    struct yaml_item *item = allocate(reader, sizeof(*item));

    *item = (struct yaml_item){0};
    if (kind == YAML_MAPPING) {
        if (event->type == YAML_SCALAR_EVENT || event->type == YAML_ALIAS_EVENT)
            item->key = read_node(reader, event, true, failure);
        if (!*failure && (!item->key || item->key->kind != YAML_SCALAR))
            yaml_fail(line_of(event), FAILURE_YAML, "a list or mapping is used as a key",
                      "write the key as plain text", failure);
        if (*failure || next_event(reader, event, failure) < 0)
            return NULL;
    }
    item->value = read_node(reader, event, false, failure);
    if (!item->value)
        return NULL;
    if (item->key && item->key->type == YAML_MERGE && !item->value->mergeable) {
        yaml_fail(item->key->line, FAILURE_YAML, "'<<' does not have a mapping to merge",
                  "give it a mapping, or a list of them, or quote it", failure);
        return NULL;
    }
    return item;
}

/* What Python can compare with each other, in the keys of a mapping. */
static const enum key_group {
    KEYS_NONE,
    KEYS_TEXT,
    KEYS_NUMBER,
    KEYS_NULL,
    KEYS_OTHER, /* not even alone: JSON has no such keys */
} key_groups[] = {
    [YAML_MERGE] = KEYS_NONE,      [YAML_TEXT] = KEYS_TEXT,
    [YAML_BOOLEAN] = KEYS_NUMBER,  [YAML_INTEGER] = KEYS_NUMBER,
    [YAML_FLOAT] = KEYS_NUMBER,    [YAML_NULL] = KEYS_NULL,
    [YAML_TIMESTAMP] = KEYS_OTHER, [YAML_BINARY] = KEYS_OTHER,
};

/* From 23.4 on, cloud-init writes its configuration as JSON with sorted keys, and stops if
 * Python cannot compare them: text with 'on' or 'no', which are booleans, or with numbers.
 * Adds the key to those of its mapping so far. */
static int
check_key(enum key_group *group, const struct yaml_node *key, struct failure **failure)
{
    const enum key_group own = key_groups[key->type];

    if (own == KEYS_NONE)
        return 0;
    if (own == KEYS_OTHER || (*group != KEYS_NONE && *group != own))
        return yaml_fail(
            key->line, FAILURE_YAML,
            "keys of different types, such as text and a number, in one mapping",
            "put keys such as 'on', 'no', '1' or a date in quotes", failure);
    *group = own;
    return 0;
}

static int
read_items(struct reader *reader, struct yaml_node *node, bool flow,
           struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    const bool outer_flow = reader->flow;
    const struct yaml_item **end = &node->items;
    enum key_group keys = KEYS_NONE;
    cleanup_event yaml_event_t event = {0};

    if (check_depth(reader, node->line, 1, failure) < 0)
        return -1;
    node->height = 1;
    node->mergeable = true;
    reader->depth++;
    reader->flow = flow;
    for (;;) {
        struct yaml_item *item;

        if (next_event(reader, &event, failure) < 0)
            return -1;
        if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
            break;
        item = read_item(reader, &event, node->kind, failure);
        if (!item)
            return -1;
        if (reader->sort_keys && item->key && check_key(&keys, item->key, failure) < 0)
            return -1;
        if (item->value->height >= node->height)
            node->height = item->value->height + 1;
        if (node->kind == YAML_SEQUENCE && item->value->kind != YAML_MAPPING)
            node->mergeable = false;
        *end = item;
        end = (const struct yaml_item **)&item->next;
    }
    reader->depth--;
    reader->flow = outer_flow;
    return 0;
}

/* The event's text goes with it. */
static void
keep_text(struct reader *reader, struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR)
        return;
    if (reader->keeps_text)
        node->text = obstack_copy0(&reader->yaml->memory, node->text, node->length);
    else
        node->text = "";
}

/* Return: the node that begins with the event, or NULL. */
static const struct yaml_node *
read_node(struct reader *reader, const yaml_event_t *event, bool is_key,
          struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    const size_t nodes = reader->nodes, bytes = reader->bytes;
    const yaml_char_t *name, *tag;
    struct anchor *anchor = NULL;
    struct yaml_node *node;
    bool flow = false, plain = false;
    const char *problem = NULL;

    if (event->type == YAML_ALIAS_EVENT)
        return read_alias(reader, event, failure);
    node = allocate(reader, sizeof(*node));
    *node = (struct yaml_node){.line = line_of(event), .text = ""};
    if (event->type == YAML_SCALAR_EVENT) {
        name = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        plain = event->data.scalar.plain_implicit;
        node->length = event->data.scalar.length;
        node->text = (const char *)event->data.scalar.value;
        /* PyYAML takes it for the indicator of a key there (scan_plain). */
        if (reader->flow && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
            strchr(node->text, '?'))
            problem = "'?' is in text between brackets or braces";
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        node->kind = YAML_SEQUENCE;
        name = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        flow = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    } else {
        node->kind = YAML_MAPPING;
        name = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    }
    if (!problem)
        problem = yaml_resolve(node, (const char *)tag, plain, is_key);
    if (problem)
        yaml_fail(node->line, FAILURE_YAML, problem,
                  tag ? "remove the tag" : "put it in quotes", failure);
    else if (count(reader, node->line, 1, node->length, failure) == 0 && name)
        anchor = add_anchor(reader, node, (const char *)name, failure);
    if (*failure)
        return NULL;
    keep_text(reader, node);
    if (node->kind != YAML_SCALAR && read_items(reader, node, flow, failure) < 0)
        return NULL;
    if (anchor) {
        anchor->nodes = reader->nodes - nodes;
        anchor->bytes = reader->bytes - bytes;
    }
    return node;
}

/* --- documents -------------------------------------------------------------------- */

/* Return: whether the event begins a value. An empty document is None in Python, which
 * cloud-init ignores. */
static bool
begins_value(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT)
        return event->data.scalar.length > 0 || !event->data.scalar.plain_implicit;
    return event->type == YAML_ALIAS_EVENT || event->type == YAML_SEQUENCE_START_EVENT ||
           event->type == YAML_MAPPING_START_EVENT;
}

static int
check_shape(const struct yaml_node *value, enum yaml_shape shape,
            struct failure **failure)
{
    const bool is_mapping = value->kind == YAML_MAPPING;

    if (!is_mapping && (shape == YAML_ONE_MAPPING || shape == YAML_CLOUD_CONFIG))
        return yaml_fail(value->line, FAILURE_YAML, "not a mapping of keys and values",
                         "write 'key: value' lines", failure);
    if (shape == YAML_ONE_SEQUENCE && value->kind != YAML_SEQUENCE)
        return yaml_fail(value->line, FAILURE_YAML, "not a list",
                         "write a list of '- …' items", failure);
    return 0;
}

static int
read_documents(struct reader *reader, enum yaml_shape shape, struct failure **failure)
{
    struct yaml *yaml = reader->yaml;
    struct yaml_node *stream = allocate(reader, sizeof(*stream));
    const struct yaml_item **end = &stream->items;
    cleanup_event yaml_event_t event = {0};

    *stream = (struct yaml_node){.kind = YAML_SEQUENCE, .line = 1, .text = ""};
    if (shape == YAML_STREAM)
        yaml->root = stream;
    /* The stream's beginning. */
    if (next_event(reader, &event, failure) < 0)
        return -1;
    for (;;) {
        bool is_empty;
        struct yaml_item *item;

        if (next_event(reader, &event, failure) < 0)
            return -1;
        if (event.type == YAML_STREAM_END_EVENT)
            return 0;
        if (stream->items && shape != YAML_STREAM)
            return yaml_fail(line_of(&event), FAILURE_YAML, "a second document begins",
                             "remove the '---': there may be one document", failure);
        if (next_event(reader, &event, failure) < 0)
            return -1;
        is_empty = !begins_value(&event);
        item = read_item(reader, &event, YAML_SEQUENCE, failure);
        if (!item)
            return -1;
        if (!is_empty && check_shape(item->value, shape, failure) < 0)
            return -1;
        if (next_event(reader, &event, failure) < 0)
            return -1;
        if (!is_empty && shape != YAML_STREAM)
            yaml->root = item->value;
        *end = item;
        end = (const struct yaml_item **)&item->next;
        reader->anchors = NULL;
    }
}

/* libyaml compares each %TAG directive with all before it, which takes long if there are
 * many. */
static int
check_directives(const char *data, size_t size, struct failure **failure)
{
    int count = 0;

    for (const char *at = data; (at = memchr(at, '%', (size_t)(data + size - at))); at++)
        count += at == data || at[-1] == '\n' || at[-1] == '\r';
    if (count <= LIMIT_YAML_DIRECTIVES)
        return 0;
    return failure_set(failure, FAILURE_LIMIT,
                       "more than %d lines begin with '%%'\n"
                       "cloud-init's documents need no %%TAG",
                       LIMIT_YAML_DIRECTIVES);
}

/* If it succeeds, the caller deletes the parser. */
static int
begin(yaml_parser_t *parser, const char *data, size_t size, struct failure **failure)
{
    const size_t mark = strlen(BYTE_ORDER_MARK);

    if (size > LIMIT_PART)
        return failure_set(failure, FAILURE_LIMIT,
                           "more than %lu MiB\nsplit the document", LIMIT_PART / MIB);
    if (size == 0)
        data = "";
    /* libyaml counts it as a column. */
    if (size >= mark && memcmp(data, BYTE_ORDER_MARK, mark) == 0) {
        data += mark;
        size -= mark;
    }
    if (check_directives(data, size, failure) < 0)
        return -1;
    if (!yaml_parser_initialize(parser))
        abort();
    /* cloud-init decodes it as UTF-8, whatever its first bytes say. */
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)data, size);
    return 0;
}

/*
 * The states of the walk, each with the event that ends it:
 *
 *   before the stream   STREAM-START
 *   between documents   DOCUMENT-START: a document; STREAM-END: the end
 *   in a document       one value, then DOCUMENT-END
 *   at a value          SCALAR or ALIAS: it is read; …-START: its items
 *   between items       …-END: the collection is read; else, the next item begins
 *   in an item          the value of the key (in a mapping), then the value
 *
 * read_documents() has the first three, read_node() the fourth, and read_items() and
 * read_item() the others. Each gets the event that begins it, and reads up to its last.
 */
static int
read_data(struct reader *reader, const char *data, size_t size, enum yaml_shape shape,
          struct failure **failure)
{
    int result;

    *reader->yaml = (struct yaml){0};
    obstack_begin(&reader->yaml->memory, CHUNK_SIZE);
    reader->sort_keys = shape == YAML_CLOUD_CONFIG;
    if (begin(&reader->parser, data, size, failure) < 0)
        return -1;
    result = read_documents(reader, shape, failure);
    yaml_parser_delete(&reader->parser);
    return result;
}

int
yaml_read(struct yaml *yaml, const char *data, size_t size, enum yaml_shape shape,
          struct failure **failure)
{
    struct reader reader = {.yaml = yaml, .keeps_text = true};

    return read_data(&reader, data, size, shape, failure);
}

int
yaml_check(const char *data, size_t size, enum yaml_shape shape, struct failure **failure)
{
    cleanup_yaml struct yaml yaml = {0};
    struct reader reader = {.yaml = &yaml};

    return read_data(&reader, data, size, shape, failure);
}

bool
yaml_is_empty(const char *data, size_t size)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_event yaml_event_t event = {0};
    yaml_parser_t parser;

    /* White space at the end may contain tabs, which is nothing, too. */
    while (size > 0 && data[size - 1] && strchr(" \t\r\n", data[size - 1]))
        size--;
    if (begin(&parser, data, size, &ignored) < 0)
        return false;
    do
        yaml_event_delete(&event);
    while (yaml_parser_parse(&parser, &event) && event.type != YAML_STREAM_END_EVENT &&
           !begins_value(&event));
    yaml_parser_delete(&parser);
    return event.type == YAML_STREAM_END_EVENT;
}

const struct yaml_node *
yaml_get(const struct yaml_node *mapping, const char *key) /* NOLINT(misc-no-recursion) */
{
    const struct yaml_node *own = NULL, *merged = NULL;

    if (!mapping || mapping->kind != YAML_MAPPING)
        return NULL;
    yaml_foreach(item, mapping) {
        const struct yaml_node *value = item->value, *found = NULL;

        if (item->key->type != YAML_MERGE) {
            own = strcmp(item->key->text, key) == 0 ? value : own;
            continue;
        }
        /* The first of several merged mappings that has the key counts, but the last of
         * several '<<' (PyYAML's flatten_mapping()). */
        if (value->kind == YAML_MAPPING)
            found = yaml_get(value, key);
        for (const struct yaml_item *other = value->items;
             value->kind == YAML_SEQUENCE && other && !found; other = other->next)
            found = yaml_get(other->value, key);
        merged = found ? found : merged;
    }
    return own ? own : merged;
}
