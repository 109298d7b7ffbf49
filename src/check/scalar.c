/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "check/tree.h"
#include "seed/yaml-value.h"

/* Longer text is no number. */
#define SCALAR_MAX 64

/* Return: whether the text has the form of the pattern, where "0" is any digit. */
static bool
looks_like(const char *text, const char *pattern)
{
    for (; *pattern; text++, pattern++) {
        if (*pattern == '0' ? !isdigit((unsigned char)*text) : *text != *pattern)
            return false;
    }
    return !*text;
}

/* Without quotes, and without a tag ('!!str') or an anchor, which would make it longer. */
static bool
is_plain(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE &&
           node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           node->data.scalar.length <= SCALAR_MAX &&
           node->end_mark.index - node->start_mark.index == node->data.scalar.length;
}

enum scalar
tree_scalar(const yaml_node_t *node)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_json json_t *value = NULL;
    yaml_event_t event = {.type = YAML_SCALAR_EVENT};

    if (!is_plain(node))
        return SCALAR_TEXT;
    event.data.scalar.value = node->data.scalar.value;
    event.data.scalar.length = node->data.scalar.length;
    event.data.scalar.plain_implicit = 1;
    value = yaml_scalar_value(&event, &failure);
    if (!value || json_is_number(value))
        return json_is_real(value) ? SCALAR_FLOAT : SCALAR_INTEGER;
    if (json_is_null(value))
        return SCALAR_NULL;
    if (json_is_boolean(value))
        return SCALAR_BOOLEAN;
    return looks_like(tree_text(node), "0000-00-00") ? SCALAR_DATE : SCALAR_TEXT;
}

static bool
is_canonical_natural(const char *text)
{
    return strcmp(text, "0") == 0 ||
           (*text && *text != '0' && !text[strspn(text, "0123456789")]);
}

/* "1.5", and not "1.50" or "01.5". */
static bool
is_canonical_float(const char *text)
{
    cleanup_free char *whole = NULL;
    size_t length;

    text += *text == '-';
    length = strcspn(text, ".");
    whole = xstrndup(text, length);
    text += length + 1;
    length = strlen(text);
    return is_canonical_natural(whole) && length > 0 &&
           strspn(text, "0123456789") == length &&
           (length == 1 || text[length - 1] != '0');
}

bool
tree_is_as_written(const yaml_node_t *node)
{
    const char *text = tree_text(node);

    switch (tree_scalar(node)) {
    case SCALAR_NULL:
        return false;
    case SCALAR_BOOLEAN:
        return strcmp(text, "True") == 0 || strcmp(text, "False") == 0;
    case SCALAR_INTEGER:
        return strcmp(text, "-0") != 0 && is_canonical_natural(text + (*text == '-'));
    case SCALAR_FLOAT:
        return strchr(text, '.') && is_canonical_float(text);
    case SCALAR_TEXT:
    case SCALAR_DATE:
        break;
    }
    return true;
}
