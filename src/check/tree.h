/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A YAML document as a tree: with lines, and with what PyYAML makes of each scalar. Aliases
 * lead to the node that they stand for, so a tree may be larger than its document, or have
 * no end: tree_walk() has bounds.
 */
#pragma once

#include <stdbool.h>

#include <yaml.h>

#include "base/buffer.h"
#include "base/limits.h"

struct tree {
    yaml_document_t document;
};

/* Where a node is: the keys that lead to it; NULL for a place in a list. */
struct tree_place {
    const char *keys[LIMIT_YAML_DEPTH];
    size_t depth;
};

/* What a scalar without quotes is in YAML 1.1, as PyYAML resolves it. */
enum scalar {
    SCALAR_TEXT,
    SCALAR_NULL,
    SCALAR_BOOLEAN,
    SCALAR_INTEGER,
    SCALAR_FLOAT,
    SCALAR_DATE,
};

/* Return: whether there is a tree: the data is one document, and not empty. */
bool tree_load(struct tree *tree, const struct buffer *data);
void tree_clear(struct tree *tree);

/* Return: the outermost node. */
yaml_node_t *tree_root(struct tree *tree);
/* Return: the value of the key, or NULL; also where the node is no mapping, or NULL. */
yaml_node_t *tree_get(struct tree *tree, const yaml_node_t *mapping, const char *key);

/* Visits everything below the node, at most LIMIT_YAML_EVENTS of it. */
void tree_walk(struct tree *tree, const yaml_node_t *from,
               void (*visit)(void *data, const struct tree_place *place,
                             const yaml_node_t *node),
               void *data);

/* Return: the scalar's text, borrowed from the tree; "" for a collection. */
const char *tree_text(const yaml_node_t *node);
int tree_line(const yaml_node_t *node);
enum scalar tree_scalar(const yaml_node_t *node);
/* Return: whether Python's str() of the value is the text that was written. */
bool tree_is_as_written(const yaml_node_t *node);

#define cleanup_tree __attribute__((cleanup(tree_clear)))
