/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "check/tree.h"

struct walk {
    struct tree *tree;
    void (*visit)(void *data, const struct tree_place *place, const yaml_node_t *node);
    void *data;
    struct tree_place place;
    unsigned long nodes;
};

bool
tree_load(struct tree *tree, const struct buffer *data)
{
    yaml_parser_t parser;
    bool loaded;

    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)data->data, data->size);
    loaded = yaml_parser_load(&parser, &tree->document);
    yaml_parser_delete(&parser);
    if (loaded && tree_root(tree))
        return true;
    if (loaded)
        yaml_document_delete(&tree->document);
    tree->document = (yaml_document_t){0};
    return false;
}

void
tree_clear(struct tree *tree)
{
    yaml_document_delete(&tree->document);
}

yaml_node_t *
tree_root(struct tree *tree)
{
    return yaml_document_get_root_node(&tree->document);
}

yaml_node_t *
tree_get(struct tree *tree, const yaml_node_t *mapping, const char *key)
{
    const yaml_node_pair_t *pair;

    if (!mapping || mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *node = yaml_document_get_node(&tree->document, pair->key);

        if (node && strcmp(tree_text(node), key) == 0)
            return yaml_document_get_node(&tree->document, pair->value);
    }
    return NULL;
}

static void walk_below(struct walk *walk, const yaml_node_t *node);

static void
walk_to(struct walk *walk, const char *key, int index)
{
    const yaml_node_t *node = yaml_document_get_node(&walk->tree->document, index);

    if (!node || walk->place.depth == LIMIT_YAML_DEPTH ||
        walk->nodes++ >= LIMIT_YAML_EVENTS)
        return;
    walk->place.keys[walk->place.depth++] = key;
    walk->visit(walk->data, &walk->place, node);
    walk_below(walk, node);
    walk->place.depth--;
}

static void
walk_below(struct walk *walk, const yaml_node_t *node) /* NOLINT(misc-no-recursion) */
{
    yaml_document_t *document = &walk->tree->document;

    if (node->type == YAML_SEQUENCE_NODE) {
        for (const yaml_node_item_t *item = node->data.sequence.items.start;
             item < node->data.sequence.items.top; item++)
            walk_to(walk, NULL, *item);
    } else if (node->type == YAML_MAPPING_NODE) {
        for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
             pair < node->data.mapping.pairs.top; pair++)
            walk_to(walk, tree_text(yaml_document_get_node(document, pair->key)),
                    pair->value);
    }
}

void
tree_walk(struct tree *tree, const yaml_node_t *from,
          void (*visit)(void *data, const struct tree_place *place,
                        const yaml_node_t *node),
          void *data)
{
    struct walk walk = {.tree = tree, .visit = visit, .data = data};

    walk_below(&walk, from);
}

const char *
tree_text(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
                                                  : "";
}

int
tree_line(const yaml_node_t *node)
{
    return (int)node->start_mark.line + 1;
}
