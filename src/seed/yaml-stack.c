/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "seed/yaml-stack.h"

/* Queries reach this deep. */
#define KEY_LEVELS 2

int
yaml_fail(size_t line, const char *problem, const char *hint, struct failure **failure)
{
    failure_set(failure, FAILURE_YAML, "line %zu: %s", line + 1, problem);
    return failure_hint(failure, "%s", hint);
}

static struct yaml_level *
current(struct yaml_stack *stack)
{
    return stack->depth > 0 ? &stack->levels[stack->depth - 1] : NULL;
}

static bool
is_mapping(const struct yaml_level *level)
{
    return level->kind == YAML_KIND_MAPPING;
}

bool
yaml_stack_key_next(const struct yaml_stack *stack)
{
    return stack->depth > 0 && is_mapping(&stack->levels[stack->depth - 1]) &&
           stack->levels[stack->depth - 1].key_next;
}

bool
yaml_stack_in_flow(const struct yaml_stack *stack)
{
    return stack->depth > 0 && stack->levels[stack->depth - 1].flow;
}

/* --- turns -------------------------------------------------------------------------- */

static int
fail_merge(size_t line, struct failure **failure)
{
    return yaml_fail(line, "what '<<' takes in is no mapping",
                     "give it an alias of a mapping, or a list of such", failure);
}

/* From its first other item on a list is one that '<<' does not take. */
static int
take_item(struct yaml_stack *stack, struct yaml_level *level, enum yaml_kind kind,
          size_t line, struct failure **failure)
{
    if (kind == YAML_KIND_MAPPING)
        return 0;
    if (level->merges)
        return fail_merge(line, failure);
    level->kind = YAML_KIND_SEQUENCE;
    if (level->anchor)
        yaml_anchor_find(&stack->anchors, level->anchor)->kind = YAML_KIND_SEQUENCE;
    return 0;
}

/* A list or a mapping cannot be a key in Python. */
static int
take_key(struct yaml_level *level, enum yaml_kind kind, size_t line,
         struct failure **failure)
{
    level->key_next = false;
    level->merges = false;
    if (kind == YAML_KIND_SCALAR)
        return 0;
    return yaml_fail(line, "a collection stands as a key", "write the key as plain text",
                     failure);
}

static int
take_value(struct yaml_level *level, enum yaml_kind kind, size_t line,
           struct failure **failure)
{
    level->key_next = true;
    if (!level->merges || kind == YAML_KIND_MAPPING || kind == YAML_KIND_MAPPINGS)
        return 0;
    return fail_merge(line, failure);
}

int
yaml_stack_take_turn(struct yaml_stack *stack, enum yaml_kind kind, size_t line,
                     struct failure **failure)
{
    struct yaml_level *level = current(stack);

    if (!level)
        return 0;
    if (!is_mapping(level))
        return take_item(stack, level, kind, line, failure);
    return level->key_next ? take_key(level, kind, line, failure)
                           : take_value(level, kind, line, failure);
}

void
yaml_stack_keep_key(struct yaml_stack *stack, const struct yaml_scalar *scalar)
{
    struct yaml_level *level = &stack->levels[stack->depth - 1];

    level->merges = yaml_scalar_is_merge(scalar);
    if (stack->depth > KEY_LEVELS)
        return;
    free(level->key);
    level->key = xstrndup(scalar->text, scalar->length);
}

/* --- collections -------------------------------------------------------------------- */

int
yaml_stack_open(struct yaml_stack *stack, enum yaml_kind kind, bool flow,
                const char *anchor, size_t line, struct failure **failure)
{
    const struct yaml_level *outer = current(stack);
    bool merges = outer && is_mapping(outer) && outer->merges && kind != outer->kind;

    if (yaml_stack_take_turn(stack, kind, line, failure) < 0)
        return -1;
    if (stack->depth == LIMIT_YAML_DEPTH)
        return yaml_fail(line, "nested deeper than 64 levels", "write it flatter",
                         failure);
    stack->levels[stack->depth++] = (struct yaml_level){
        .kind = kind,
        .flow = flow,
        .key_next = true,
        .merges = merges,
        .anchor = anchor ? xstrdup(anchor) : NULL,
    };
    return 0;
}

void
yaml_stack_close(struct yaml_stack *stack)
{
    struct yaml_level *level = &stack->levels[--stack->depth];

    free(level->anchor);
    free(level->key);
}

bool
yaml_stack_is_at(const struct yaml_stack *stack, const char *const *path)
{
    for (size_t i = 0; i < stack->depth; i++) {
        const char *key = stack->levels[i].key;

        if (!path[i] || !is_mapping(&stack->levels[i]) || !key ||
            strcmp(key, path[i]) != 0)
            return false;
    }
    return !path[stack->depth];
}

void
yaml_stack_clear(struct yaml_stack *stack)
{
    while (stack->depth > 0)
        yaml_stack_close(stack);
    yaml_anchors_clear(&stack->anchors);
}
