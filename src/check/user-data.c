/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of user-data and vendor-data, and values in cloud-configs that YAML reads
 * differently from what cloud-init's modules expect. Unknown keys are left to cloud-init's
 * schema (schema.c). */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "check/check.h"

/* Return: the format of user-data or vendor-data; USER_DATA_UNKNOWN for other parts, and if
 * it is empty or masked. */
static enum user_data_kind
document_kind(const struct part *part)
{
    if (part->kind != PART_USER_DATA && part->kind != PART_VENDOR_DATA)
        return USER_DATA_UNKNOWN;
    if (part->data.size == 0 || part->masked)
        return USER_DATA_UNKNOWN;
    return user_data_kind(part->data.data, part->data.size);
}

/* 'locale: false' leaves the locale alone. */
static bool
is_no_locale(const struct check *check, const struct yaml_node *node)
{
    return rule_no_text(check, node) &&
           !(node->type == YAML_BOOLEAN && !node->value.boolean);
}

/* A mapping of users is by their names, so {name: bob} is a user 'name'. */
static bool
is_one_user(const struct check *check, const struct yaml_node *node)
{
    return yaml_get(node, "name") != NULL;
}

static const struct rule rules[] = {
    {{"locale"},
     is_no_locale,
     WARNING_YAML_VALUE,
     "is not text in YAML, but cloud-init expects text",
     "put it in quotes"},
    {{"users"},
     is_one_user,
     WARNING_YAML_TYPE,
     "is a mapping, whose keys cloud-init takes for the users' names",
     "write a list: - name: NAME"},
    {{"hostname", "fqdn", "timezone", "password", "phone_home.url", "final_message",
      "runcmd.*", "bootcmd.*"},
     RULE_TEXT},
    {{"chpasswd.list", "chpasswd.users.*.name", "chpasswd.users.*.password", "groups.*"},
     RULE_TEXT},
    {{"users.*", "users.*.name", "users.*.gecos", "users.*.passwd",
      "users.*.hashed_passwd", "users.*.plain_text_passwd", "users.*.primary_group",
      "users.*.expiredate", "users.*.inactive"},
     RULE_TEXT},
    {{"write_files.*.path", "write_files.*.content", "write_files.*.owner",
      "write_files.*.permissions"},
     RULE_TEXT},
    {{"runcmd.*.*", "bootcmd.*.*", "packages.*.*", "mounts.*.*"}, RULE_AS_WRITTEN},
    {{"users.*.lock_passwd", "users.*.no_create_home", "users.*.system"}, RULE_BOOLEAN},
    {.paths = {NULL}},
};

bool
check_is_cloud_config(const struct part *part)
{
    enum user_data_kind kind;

    if (part->kind != PART_VALUE)
        return document_kind(part) == USER_DATA_CLOUD_CONFIG;
    if (part->data.size == 0 || part->masked ||
        strcmp(part->element, "custom_script") != 0)
        return false;
    kind = user_data_kind(part->data.data, part->data.size);
    return kind == USER_DATA_CLOUD_CONFIG || kind == USER_DATA_UNKNOWN;
}

void
check_user_data(const struct check *check)
{
    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        const enum user_data_kind kind = document_kind(part);
        cleanup_free char *description = part_describe(part);
        cleanup_yaml struct yaml yaml = {0};
        const struct yaml_node *root =
            check_is_cloud_config(part) ? rules_read(&yaml, part) : NULL;

        if (kind == USER_DATA_GZIP || kind == USER_DATA_MIME)
            check_warn(
                check, WARNING_UNSEEN, part->line,
                "put each part into its own user-data element: virt-seed combines them",
                "%s is packed (gzip or MIME), so its values were not checked",
                description);
        else if (root)
            rules_apply(check, part, root, rules);
    }
}
