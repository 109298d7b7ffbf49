/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML by libyaml's grammar (YAML 1.1), with the values that the guest's PyYAML gives to
 * scalars. Their grammars differ in little; virt-seed-xml(5) says in what.
 *
 * A document becomes a tree in which every node has its line and every scalar its type.
 * A collection that contains itself is a failure, and so are tags other than '!!str' and
 * '!!binary'.
 *
 * The limits are LIMIT_YAML_… in base/limits.h. They apply to the document with aliases
 * expanded, so a walk over the tree is bounded, too. A message has the line within the
 * data, but nothing of its content.
 */
#pragma once

#include <obstack.h>

#include <jansson.h>

#include "base/base.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

enum yaml_kind {
    YAML_SCALAR,
    YAML_SEQUENCE,
    YAML_MAPPING,
};

/* What PyYAML makes of a scalar. */
enum yaml_type {
    YAML_TEXT,
    YAML_NULL,
    YAML_BOOLEAN,
    YAML_INTEGER,
    YAML_FLOAT,
    YAML_TIMESTAMP,
    YAML_BINARY,
    YAML_MERGE, /* the key '<<', whose value is merged into the mapping */
};

struct yaml_node {
    enum yaml_kind kind;
    enum yaml_type type; /* of a scalar */
    int line;            /* from 1 on */
    int height;          /* levels of collections, aliases included */
    const char *text;    /* of a scalar, as it was written; "" of a collection */
    size_t length;       /* of the text, which may contain NUL */
    union {
        bool boolean;
        int64_t integer;
        double real;
    } value;
    bool huge;      /* an integer that does not fit into the value */
    bool mergeable; /* a mapping, or a sequence of mappings alone: what '<<' takes */
    const struct yaml_item *items; /* of a collection; NULL if it is empty */
};

/* An alias is the same node as its anchor, so a node can be in several places. */
struct yaml_item {
    const struct yaml_node *key; /* a scalar; NULL in a sequence */
    const struct yaml_node *value;
    struct yaml_item *next;
};

/* Loops over the items of a collection; `node` may be NULL, or a scalar, which has none. */
/* NOLINTBEGIN(bugprone-macro-parentheses): it declares `item` */
#define yaml_foreach(item, node)                                                         \
    for (const struct yaml_item *item = (node) ? (node)->items : NULL; item;             \
         item = item->next)
/* NOLINTEND(bugprone-macro-parentheses) */

/* An empty one is all zero. */
struct yaml {
    const struct yaml_node *root; /* NULL if the document is empty */
    struct obstack memory;        /* of all nodes */
};

/* What the data must be. An empty document is always fine. */
enum yaml_shape {
    YAML_ONE_DOCUMENT,
    YAML_ONE_MAPPING,
    YAML_ONE_SEQUENCE,
    YAML_CLOUD_CONFIG, /* one mapping; the keys of each can be sorted in Python */
    YAML_STREAM,       /* any number of documents: the root is a sequence of them */
    YAML_APPROXIMATE,  /* one document; what JSON cannot express is replaced */
};

int yaml_read(struct yaml *yaml, const char *data, size_t size, enum yaml_shape shape,
              struct failure **failure);
void yaml_clear(struct yaml *yaml);

#define cleanup_yaml __attribute__((cleanup(yaml_clear)))

/* The same, if only the failure matters. */
int yaml_check(const char *data, size_t size, enum yaml_shape shape,
               struct failure **failure);

/* Return: whether the data are YAML with no value at all, such as comments alone. */
bool yaml_is_empty(const char *data, size_t size);

/* Return: the value of the mapping's own or merged key; NULL if there is none, or if the
 * node is NULL or not a mapping. */
const struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key);

/* Sets a failure that names the line. Return: -1. */
int yaml_fail(int line, enum failure_code code, const char *problem, const char *hint,
              struct failure **failure);

/*
 * Sets a node's type and value from its text, if it is plain (neither quoted nor tagged),
 * or from its tag, which may be NULL, like PyYAML's resolver.py and constructor.py.
 * Return: what is wrong with it, as a phrase without its content, or NULL.
 */
const char *yaml_resolve(struct yaml_node *node, const char *tag, bool plain,
                         bool is_key);

/* --- YAML as jansson's values, and JSON for readers of YAML ----------------------- */

/*
 * Reads YAML as values: timestamps are text, a key is the text as written, merge keys
 * ('<<') and aliases are expanded. Refuses what JSON cannot express: bytes, integers of
 * more than 64 bits, .nan and .inf, NUL in text, duplicate keys.
 *
 * Return: the value, null if there is none, owned by the caller (cleanup_json), or NULL.
 * A YAML_STREAM becomes an array of the documents; an integer of more than 64 bits in it,
 * a real number. With YAML_APPROXIMATE, nothing is refused: bytes become empty text, numbers
 * 0, and the last of duplicate keys counts.
 */
json_t *yaml_load(const char *data, size_t size, enum yaml_shape shape,
                  struct failure **failure);

/*
 * Appends the value as JSON that is also YAML: characters that YAML does not allow (control
 * characters) or takes for the end of a line (U+0085, U+2028, U+2029) are written as
 * \uXXXX, which both understand.
 */
void yaml_text_append(struct buffer *buffer, const json_t *json);
