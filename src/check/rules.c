/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "check/check.h"

#define ANY_DEPTH "**."

/* The current position in a document. */
struct walk {
    const struct check *check;
    const struct part *part;
    const struct rule *rules;
    /* The keys that lead to a node; NULL for a list item. */
    const char *keys[LIMIT_YAML_DEPTH];
    size_t depth;
};

static bool
path_matches(const char *path, const struct walk *walk)
{
    size_t depth = 0;

    if (strncmp(path, ANY_DEPTH, strlen(ANY_DEPTH)) == 0) {
        path += strlen(ANY_DEPTH);
        depth = walk->depth - 1;
    }
    for (;;) {
        size_t length = strcspn(path, ".");
        const char *key;

        if (depth == walk->depth)
            return false;
        key = walk->keys[depth++];
        if (length != 1 || *path != '*') {
            if (!key || strncmp(key, path, length) != 0 || key[length])
                return false;
        }
        if (!path[length])
            return depth == walk->depth;
        path += length + 1;
    }
}

/* Return: the key of the value, or of the list that it is in. */
static const char *
last_key(const struct walk *walk)
{
    size_t depth = walk->depth;

    while (depth > 1 && !walk->keys[depth - 1])
        depth--;
    return walk->keys[depth - 1];
}

static void
apply(const struct walk *walk, const struct yaml_node *node)
{
    const struct rule *found = NULL;

    for (const struct rule *rule = walk->rules; rule->paths; rule++) {
        const char *const *path = rule->paths;
        const char *name;

        while (*path && !path_matches(*path, walk))
            path++;
        /* One finding of a kind is enough for a value. */
        if (!*path || (found && found->id == rule->id) ||
            !rule->applies(walk->check, node))
            continue;
        name = *path;
        /* A leading "*." means nothing to the user. */
        while (*name == '*' && strchr(name, '.'))
            name = strchr(name, '.') + 1;
        if (*name == '*' && walk->part->origin != PART_SECRET)
            name = last_key(walk);
        check_warn_of(walk->check, rule->id, walk->part, node->line, rule->hint,
                      ": '%.256s' %s", name ? name : "*", rule->message);
        found = rule;
    }
}

static void
apply_below(struct walk *walk,
            const struct yaml_node *node) /* NOLINT(misc-no-recursion) */
{
    const struct findings *findings = walk->check->findings;

    for (const struct yaml_item *item = node->items;
         item && findings->count < LIMIT_FINDINGS; item = item->next) {
        walk->keys[walk->depth++] = item->key ? item->key->text : NULL;
        apply(walk, item->value);
        apply_below(walk, item->value);
        walk->depth--;
    }
}

void
rules_apply(const struct check *check, const struct part *part,
            const struct yaml_node *from, const struct rule *rules)
{
    struct walk walk = {.check = check, .part = part, .rules = rules};

    apply_below(&walk, from);
}

const struct yaml_node *
rules_read(struct yaml *yaml, const struct part *part)
{
    cleanup_failure struct failure *ignored = NULL;

    if (part->data.size == 0 || part->masked ||
        yaml_read(yaml, part->data.data, part->data.size, YAML_ONE_DOCUMENT, &ignored) <
            0)
        return NULL;
    return yaml->root;
}

/* --- values ----------------------------------------------------------------------- */

/* Return: whether it is digits, without a zero at their outer end unless it is alone. */
static bool
is_canonical(const char *digits, size_t length, const char *outer)
{
    if (length == 0 || strspn(digits, "0123456789") < length)
        return false;
    return length == 1 || *outer != '0';
}

bool
rules_is_as_written(const struct yaml_node *node)
{
    const char *text = node->text + (*node->text == '-');
    const size_t whole = strcspn(text, ".");
    const char *fraction = text[whole] ? text + whole + 1 : "";

    switch (node->type) {
    case YAML_NULL:
    case YAML_BINARY:
        return false;
    case YAML_BOOLEAN:
        return strcmp(text, "True") == 0 || strcmp(text, "False") == 0;
    case YAML_INTEGER:
        return strcmp(node->text, "-0") != 0 && is_canonical(text, strlen(text), text);
    case YAML_FLOAT:
        /* "1.5", and not "1.50" or "01.5". */
        return is_canonical(text, whole, text) &&
               is_canonical(fraction, strlen(fraction), text + strlen(text) - 1);
    case YAML_TIMESTAMP:
        return strlen(text) == strlen("2001-12-14");
    case YAML_TEXT:
    case YAML_MERGE:
        break;
    }
    return true;
}

/* An empty value counts as unset. */
bool
rule_no_text(const struct check *check, const struct yaml_node *node)
{
    return node->type != YAML_TEXT && node->type != YAML_BINARY &&
           node->type != YAML_NULL;
}

bool
rule_other_text(const struct check *check, const struct yaml_node *node)
{
    return !rules_is_as_written(node);
}

bool
rule_text(const struct check *check, const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && node->type == YAML_TEXT;
}

bool
rule_there(const struct check *check, const struct yaml_node *node)
{
    return node->kind != YAML_SCALAR || *node->text;
}

bool
rule_is_password(const struct check *check, const struct yaml_node *node)
{
    if (!rule_there(check, node))
        return false;
    return node->kind != YAML_SCALAR || node->text[strspn(node->text, "*!")] != '\0';
}

bool
rules_is_true(const struct yaml_node *node)
{
    static const char *const words[] = {"true", "1", "on", "yes"};

    if (node->type == YAML_BOOLEAN)
        return node->value.boolean;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcasecmp(node->text, words[i]) == 0)
            return true;
    }
    return false;
}
