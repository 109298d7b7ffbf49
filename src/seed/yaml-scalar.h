/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What YAML's scalars and tags mean to PyYAML's safe_load (its resolver.py and
 * constructor.py, and cloud-init's safeyaml.py), and which of them it raises on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "seed/yaml-anchor.h"

struct yaml_scalar {
    const char *tag; /* NULL where none is written */
    bool plain;      /* whether the text alone decides on its type */
    bool unquoted;
    bool flow; /* in brackets or braces */
    bool key;
    const char *text;
    size_t length;
};

/* Return: whether it is the key '<<', whose value is merged into the mapping. */
bool yaml_scalar_is_merge(const struct yaml_scalar *scalar);

/* Return: what is wrong with it, as a phrase without its content, or NULL. */
const char *yaml_scalar_problem(const struct yaml_scalar *scalar);

/*
 * Return: what is wrong with that tag on a node of that kind, or NULL. (!!omap and
 * !!pairs, which would become lists of tuples, are not known here: nothing in cloud-init
 * reads such lists.)
 */
const char *yaml_tag_problem(const char *tag, enum yaml_kind kind);
