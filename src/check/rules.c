/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "check/rules.h"

#define ANY_DEPTH "**."

struct application {
    const struct check *check;
    const struct part *part;
    const char *description;
    const struct rule *rules;
};

/* Return: whether the keys from `depth` on are those of the path. */
static bool
path_matches(const char *path, const struct tree_place *place, size_t depth)
{
    for (;;) {
        size_t length = strcspn(path, ".");
        const char *key;

        if (depth == place->depth)
            return false;
        key = place->keys[depth++];
        if (!(length == 1 && *path == '*') &&
            !(key && strlen(key) == length && strncmp(key, path, length) == 0))
            return false;
        if (!path[length])
            return depth == place->depth;
        path += length + 1;
    }
}

static bool
rule_matches(const struct rule *rule, const struct tree_place *place)
{
    if (strncmp(rule->path, ANY_DEPTH, strlen(ANY_DEPTH)) == 0)
        return path_matches(rule->path + strlen(ANY_DEPTH), place, place->depth - 1);
    return path_matches(rule->path, place, 0);
}

/* Return: the path without its leading "*.", which say nothing to people. */
static const char *
path_name(const char *path)
{
    while (*path == '*' && strchr(path, '.'))
        path = strchr(path, '.') + 1;
    return path;
}

static void
visit(void *data, const struct tree_place *place, const yaml_node_t *node)
{
    const struct application *application = data;

    for (const struct rule *rule = application->rules; rule->path; rule++) {
        const char *name = path_name(rule->path);

        if (!rule_matches(rule, place) || !rule->applies(application->check, node))
            continue;
        if (*name == '*' && application->part->origin != PART_SECRET)
            name = place->keys[place->depth - 1];
        findings_warn(application->check->findings, rule->id, application->part->line,
                      rule->hint, "%s: line %d: '%.256s' %s", application->description,
                      tree_line(node), name ? name : "*", rule->message);
    }
}

void
rules_apply(const struct check *check, const struct part *part, struct tree *tree,
            const yaml_node_t *from, const struct rule *rules)
{
    cleanup_free char *description = part_describe(part);
    struct application application = {
        .check = check, .part = part, .description = description, .rules = rules};

    tree_walk(tree, from, visit, &application);
}

/* What is empty is not set. */
bool
rule_no_text(const struct check *check, const yaml_node_t *node)
{
    enum scalar scalar = tree_scalar(node);

    (void)check;
    return scalar != SCALAR_TEXT && scalar != SCALAR_NULL;
}

bool
rule_other_text(const struct check *check, const yaml_node_t *node)
{
    (void)check;
    return !tree_is_as_written(node);
}

static bool
is_quoted_text(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && tree_scalar(node) == SCALAR_TEXT;
}

bool
rule_no_number(const struct check *check, const yaml_node_t *node)
{
    (void)check;
    return is_quoted_text(node);
}

bool
rule_no_boolean(const struct check *check, const yaml_node_t *node)
{
    (void)check;
    return is_quoted_text(node);
}

bool
rule_there(const struct check *check, const yaml_node_t *node)
{
    (void)check;
    return node->type != YAML_SCALAR_NODE || *tree_text(node);
}
