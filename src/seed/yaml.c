/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libyaml's events are walked once. A stack (yaml-stack.h) holds the
 * collections that are open, and of the outermost mappings their keys, so that a query's
 * path can be compared.
 *
 * libyaml takes more than PyYAML does. So the text between the tokens is looked at before
 * (yaml-source.h), each scalar and tag as PyYAML would make a value of it (yaml-scalar.h),
 * and the stack knows what can be a key and what '<<' takes in.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/limits.h"
#include "base/memory.h"
#include "seed/yaml-events.h"
#include "seed/yaml-scalar.h"
#include "seed/yaml-stack.h"
#include "seed/yaml.h"

/* A node that begins; an alias is none. */
struct node {
    size_t line;
    enum yaml_kind kind;
    bool nothing;       /* an empty scalar that nothing marks as text */
    const char *tag;    /* or NULL */
    const char *anchor; /* or NULL */
};

struct reader {
    enum yaml_root root;
    struct yaml_query *queries;
    size_t query_count;
    struct yaml_stack stack;
    unsigned long documents;
    unsigned long aliases;
};

/* --- what a node may be ------------------------------------------------------------ */

static int
note_anchor(struct reader *reader, const struct node *node, struct failure **failure)
{
    struct yaml_anchors *anchors = &reader->stack.anchors;

    if (!node->anchor)
        return 0;
    if (anchors->count == LIMIT_YAML_ANCHORS)
        return yaml_fail(node->line, "more than 1000 anchors",
                         "write out what they stand for", failure);
    if (yaml_anchor_find(anchors, node->anchor))
        return yaml_fail(node->line, "an anchor ('&…') is there twice",
                         "give each a name of its own", failure);
    yaml_anchor_add(anchors, node->anchor, node->kind);
    return 0;
}

static int
check_tag(const struct node *node, struct failure **failure)
{
    const char *problem = node->tag ? yaml_tag_problem(node->tag, node->kind) : NULL;

    return problem ? yaml_fail(node->line, problem,
                               "cloud-init reads plain YAML: remove the tag", failure)
                   : 0;
}

/* Python has None for an empty document, which cloud-init takes for nothing. */
static bool
is_nothing(const yaml_event_t *event)
{
    return event->data.scalar.length == 0 && event->data.scalar.plain_implicit;
}

static int
check_root(const struct reader *reader, const struct node *node, struct failure **failure)
{
    bool mapping = reader->root == YAML_MAPPING;

    if (reader->stack.depth > 0 || node->nothing ||
        node->kind == (mapping ? YAML_KIND_MAPPING : YAML_KIND_MAPPINGS))
        return 0;
    return yaml_fail(
        node->line, mapping ? "not a mapping of keys and values" : "not a list",
        mapping ? "write 'key: value' lines" : "write a list of '- …' items", failure);
}

static int
check_node(struct reader *reader, const struct node *node, struct failure **failure)
{
    if (check_root(reader, node, failure) < 0 || check_tag(node, failure) < 0)
        return -1;
    return note_anchor(reader, node, failure);
}

/* --- nodes -------------------------------------------------------------------------- */

static size_t
line_of(const yaml_event_t *event)
{
    return event->start_mark.line;
}

/* Before its turn: the key in front is its own. The scalar is NULL where it is none. */
static void
answer_queries(const struct reader *reader, const struct yaml_scalar *scalar)
{
    if (yaml_stack_key_next(&reader->stack))
        return;
    for (size_t i = 0; i < reader->query_count; i++) {
        struct yaml_query *query = &reader->queries[i];

        if (!yaml_stack_is_at(&reader->stack, query->path))
            continue;
        free(query->value);
        query->found = true;
        query->value = scalar ? xstrndup(scalar->text, scalar->length) : NULL;
        query->plain = scalar && scalar->plain;
    }
}

static int
check_scalar(const struct yaml_scalar *scalar, const struct node *node,
             struct failure **failure)
{
    const char *problem = yaml_scalar_problem(scalar);

    return problem ? yaml_fail(node->line, problem, "put it in quotes", failure) : 0;
}

static int
read_scalar(struct reader *reader, const yaml_event_t *event, struct failure **failure)
{
    const struct node node = {
        .line = line_of(event),
        .kind = YAML_KIND_SCALAR,
        .nothing = is_nothing(event),
        .tag = (const char *)event->data.scalar.tag,
        .anchor = (const char *)event->data.scalar.anchor,
    };
    const bool unspecific = node.tag && strcmp(node.tag, "!") == 0;
    const struct yaml_scalar scalar = {
        .tag = unspecific ? NULL : node.tag,
        .plain = unspecific || event->data.scalar.plain_implicit,
        .unquoted = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
        .flow = yaml_stack_in_flow(&reader->stack),
        .key = yaml_stack_key_next(&reader->stack),
        .text = (const char *)event->data.scalar.value,
        .length = event->data.scalar.length,
    };

    answer_queries(reader, &scalar);
    if (check_node(reader, &node, failure) < 0 ||
        check_scalar(&scalar, &node, failure) < 0 ||
        yaml_stack_take_turn(&reader->stack, node.kind, node.line, failure) < 0)
        return -1;
    if (scalar.key)
        yaml_stack_keep_key(&reader->stack, &scalar);
    return 0;
}

static int
read_alias(struct reader *reader, const yaml_event_t *event, struct failure **failure)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct yaml_anchor *anchor = yaml_anchor_find(&reader->stack.anchors, name);

    answer_queries(reader, NULL);
    if (++reader->aliases > LIMIT_YAML_ALIASES)
        return yaml_fail(line_of(event), "more than 1000 aliases",
                         "write out what they stand for", failure);
    if (!anchor)
        return yaml_fail(line_of(event), "an alias ('*…') without its anchor ('&…')",
                         "quote the text if it is no alias", failure);
    return yaml_stack_take_turn(&reader->stack, anchor->kind, line_of(event), failure);
}

static int
open_collection(struct reader *reader, const struct node *node, bool flow,
                struct failure **failure)
{
    answer_queries(reader, NULL);
    if (check_node(reader, node, failure) < 0)
        return -1;
    return yaml_stack_open(&reader->stack, node->kind, flow, node->anchor, node->line,
                           failure);
}

static int
open_sequence(struct reader *reader, const yaml_event_t *event, struct failure **failure)
{
    const struct node node = {
        .line = line_of(event),
        .kind = YAML_KIND_MAPPINGS,
        .tag = (const char *)event->data.sequence_start.tag,
        .anchor = (const char *)event->data.sequence_start.anchor,
    };

    return open_collection(reader, &node,
                           event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
                           failure);
}

static int
open_mapping(struct reader *reader, const yaml_event_t *event, struct failure **failure)
{
    const struct node node = {
        .line = line_of(event),
        .kind = YAML_KIND_MAPPING,
        .tag = (const char *)event->data.mapping_start.tag,
        .anchor = (const char *)event->data.mapping_start.anchor,
    };

    return open_collection(reader, &node,
                           event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
                           failure);
}

/* --- events ------------------------------------------------------------------------- */

static int
read_event(void *data, const yaml_event_t *event, struct failure **failure)
{
    struct reader *reader = data;

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (reader->documents++ > 0)
            return yaml_fail(line_of(event), "a second document begins",
                             "remove the '---': there may be one document", failure);
        return 0;
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event, failure);
    case YAML_SCALAR_EVENT:
        return read_scalar(reader, event, failure);
    case YAML_SEQUENCE_START_EVENT:
        return open_sequence(reader, event, failure);
    case YAML_MAPPING_START_EVENT:
        return open_mapping(reader, event, failure);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        yaml_stack_close(&reader->stack);
        return 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return 0;
}

int
yaml_read(const char *data, size_t size, enum yaml_root root, struct yaml_query *queries,
          size_t query_count, struct failure **failure)
{
    struct reader reader = {.root = root, .queries = queries, .query_count = query_count};
    int result = yaml_walk(data, size, read_event, &reader, failure);

    yaml_stack_clear(&reader.stack);
    return result;
}
