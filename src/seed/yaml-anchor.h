/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The anchors ('&name') of one YAML document, and what kind of node each names. */
#pragma once

#include <stddef.h>

enum yaml_kind {
    YAML_KIND_SCALAR,
    YAML_KIND_MAPPING,
    YAML_KIND_SEQUENCE,
    YAML_KIND_MAPPINGS, /* a sequence of nothing but mappings, as each is at first */
};

struct yaml_anchor {
    char *name;
    enum yaml_kind kind;
};

/* All zero is none. */
struct yaml_anchors {
    struct yaml_anchor *list;
    size_t count;
};

/* Return: the anchor of that name, or NULL; it is valid until the next is added. */
struct yaml_anchor *yaml_anchor_find(const struct yaml_anchors *anchors,
                                     const char *name);

void yaml_anchor_add(struct yaml_anchors *anchors, const char *name, enum yaml_kind kind);

void yaml_anchors_clear(struct yaml_anchors *anchors);
