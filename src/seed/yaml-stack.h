/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The collections of a YAML document that are open, and whose turn it is in them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "base/limits.h"
#include "seed/yaml-anchor.h"
#include "seed/yaml-scalar.h"

struct yaml_level {
    enum yaml_kind kind;
    bool flow; /* in brackets or braces */
    bool key_next;
    bool merges;  /* the value of '<<' comes next, or this is it, a list */
    char *anchor; /* or NULL */
    char *key;    /* the last one of a mapping that queries reach, else NULL */
};

/* All zero is empty. */
struct yaml_stack {
    struct yaml_level levels[LIMIT_YAML_DEPTH];
    size_t depth;
    struct yaml_anchors anchors;
};

/* Sets a failure that names the line, from 0 on. Return: -1. */
int yaml_fail(size_t line, const char *problem, const char *hint,
              struct failure **failure);

/* Return: whether the next node is a key. */
bool yaml_stack_key_next(const struct yaml_stack *stack);
/* Return: whether the next node is in brackets or braces. */
bool yaml_stack_in_flow(const struct yaml_stack *stack);

/* A node of that kind begins in that line, as a key, a value, an item, or the root. */
int yaml_stack_take_turn(struct yaml_stack *stack, enum yaml_kind kind, size_t line,
                         struct failure **failure);

/* The key that has had its turn. */
void yaml_stack_keep_key(struct yaml_stack *stack, const struct yaml_scalar *scalar);

/* The collection begins, as yaml_stack_take_turn() does, and what follows is in it.
 * `anchor` may be NULL. */
int yaml_stack_open(struct yaml_stack *stack, enum yaml_kind kind, bool flow,
                    const char *anchor, size_t line, struct failure **failure);
void yaml_stack_close(struct yaml_stack *stack);

/* Return: whether these keys, which NULL ends, lead to the value that has its turn. */
bool yaml_stack_is_at(const struct yaml_stack *stack, const char *const *path);

void yaml_stack_clear(struct yaml_stack *stack);
