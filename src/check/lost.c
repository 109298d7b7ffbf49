/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents that a start accepts and cloud-init drops, with a warning in its log. */
#include "config.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "check/check.h"

#define TEMPLATE "## template: jinja"

static bool
is_word(const char *text, const char *const *words)
{
    while (*words && strcasecmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

/* cloud-init knows the document by its beginning, and then reads the whole line
 * (templater.py, detect_template). */
static void
check_template(const struct check *check, const struct part *part)
{
    const char *data = part->data.data;
    const char *end = memchr(data, '\n', part->data.size);
    const size_t length = end ? (size_t)(end - data) : part->data.size;

    for (size_t i = strlen(TEMPLATE); i < length; i++) {
        if (!isspace((unsigned char)data[i])) {
            check_warn_of_part(
                check, part, WARNING_LOST, "make the first line '" TEMPLATE "'", 1,
                "is a template of another kind than jinja; cloud-init drops it");
            return;
        }
    }
    if (end &&
        user_data_kind(end + 1, part->data.size - length - 1) == USER_DATA_BOOTHOOK)
        check_warn_of_part(check, part, WARNING_LOST,
                           "use bootcmd in a cloud-config, which may be a template", 2,
                           "is a boothook in a template; cloud-init drops it before "
                           "version 24.1");
}

/* Return: whether the text is "NAME(SETTINGS)+…" with cloud-init's own mergers
 * (mergers/__init__.py, string_extract_mergers). */
static bool
is_merger_text(const char *text)
{
    static const char *const names[] = {"dict",   "list",  "str", "m_dict",
                                        "m_list", "m_str", NULL};
    cleanup_free char *copy = xstrdup(text);
    char *rest = copy;

    for (char *merger = strsep(&rest, "+"); merger; merger = strsep(&rest, "+")) {
        char *parenthesis, *end;

        merger += strspn(merger, " \t\r\n");
        end = merger + strlen(merger);
        while (end > merger && isspace((unsigned char)end[-1]))
            *--end = '\0';
        parenthesis = strchr(merger, '(');
        if (!*merger)
            continue;
        if (!parenthesis || end[-1] != ')')
            return false;
        *parenthesis = '\0';
        if (!is_word(merger, names))
            return false;
    }
    return true;
}

static void
check_merge_how(const struct check *check, const struct part *part,
                const struct yaml_node *root)
{
    const struct yaml_node *how = yaml_get(root, "merge_how");
    bool is_right = true;

    if (!how || (how->kind == YAML_SCALAR && how->type == YAML_NULL))
        how = yaml_get(root, "merge_type");
    if (!how || (how->kind == YAML_SCALAR && how->type == YAML_NULL))
        return;
    if (how->kind == YAML_SCALAR)
        is_right = how->type == YAML_TEXT && is_merger_text(how->text);
    else if (how->kind == YAML_MAPPING)
        is_right = false;
    for (const struct yaml_item *item = how->items; is_right && item; item = item->next)
        is_right = item->value->kind == YAML_SEQUENCE ||
                   (yaml_get(item->value, "name") && yaml_get(item->value, "settings"));
    if (!is_right)
        check_warn_of_part(check, part, WARNING_LOST,
                           "write it like 'list(append)+dict(no_replace, recurse_list)'",
                           how->line,
                           "has a merge_how that cloud-init cannot read; it drops the "
                           "document");
}

void
check_lost(const struct check *check)
{
    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        const enum user_data_kind kind = check_document_kind(part);
        cleanup_yaml struct yaml yaml = {0};
        const struct yaml_node *root =
            kind == USER_DATA_CLOUD_CONFIG ? rules_read(&yaml, part) : NULL;

        if (root)
            check_merge_how(check, part, root);
        else if (kind == USER_DATA_TEMPLATE)
            check_template(check, part);
    }
}
