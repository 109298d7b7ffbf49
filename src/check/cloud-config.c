/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in a cloud-config that YAML makes something else of than cloud-init's modules
 * expect. Which keys there are, its own schema says (schema.c). */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "check/rules.h"
#include "seed/user-data.h"

static const struct rule rules[] = {
    RULE_TEXT("hostname"),
    RULE_TEXT("fqdn"),
    RULE_TEXT("locale"),
    RULE_TEXT("timezone"),
    RULE_TEXT("password"),
    RULE_TEXT("chpasswd.list"),
    RULE_TEXT("chpasswd.users.*.name"),
    RULE_TEXT("chpasswd.users.*.password"),
    RULE_TEXT("groups.*"),
    RULE_TEXT("users.*"),
    RULE_TEXT("users.*.name"),
    RULE_TEXT("users.*.gecos"),
    RULE_TEXT("users.*.passwd"),
    RULE_TEXT("users.*.hashed_passwd"),
    RULE_TEXT("users.*.plain_text_passwd"),
    RULE_TEXT("users.*.primary_group"),
    RULE_TEXT("users.*.expiredate"),
    RULE_TEXT("users.*.inactive"),
    RULE_TEXT("write_files.*.path"),
    RULE_TEXT("write_files.*.content"),
    RULE_TEXT("write_files.*.owner"),
    RULE_TEXT("write_files.*.permissions"),
    RULE_TEXT("phone_home.url"),
    RULE_TEXT("final_message"),
    RULE_TEXT("runcmd.*"),
    RULE_TEXT("bootcmd.*"),
    RULE_AS_WRITTEN("runcmd.*.*"),
    RULE_AS_WRITTEN("bootcmd.*.*"),
    RULE_AS_WRITTEN("packages.*.*"),
    RULE_AS_WRITTEN("mounts.*.*"),
    RULE_BOOLEAN("users.*.lock_passwd"),
    RULE_BOOLEAN("users.*.no_create_home"),
    RULE_BOOLEAN("users.*.system"),
    {.path = NULL},
};

bool
check_is_cloud_config(const struct part *part)
{
    const char *kind;

    if (part->data.size == 0 || part->masked)
        return false;
    kind = user_data_kind(part->data.data, part->data.size);
    if (part->kind == PART_VALUE)
        return strcmp(part->element, "custom_script") == 0 &&
               (strcmp(kind, "cloud-config") == 0 || strcmp(kind, "unknown") == 0);
    return (part->kind == PART_USER_DATA || part->kind == PART_VENDOR_DATA) &&
           strcmp(kind, "cloud-config") == 0;
}

/* cloud-init's util.translate_bool: of text, "true", "1", "on" and "yes" alone are true. */
static bool
is_switched_off(const struct yaml_node *node)
{
    static const char *const words[] = {"true", "1", "on", "yes"};

    if (!node || node->kind != YAML_SCALAR)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcasecmp(node->text, words[i]) == 0)
            return false;
    }
    return true;
}

static void
check_vendor_data(const struct check *check, const struct part *part,
                  const struct yaml_node *root)
{
    const struct yaml_node *enabled = yaml_get(yaml_get(root, "vendor_data"), "enabled");
    const struct part *vendor_data = parts_find(&check->request->parts, PART_VENDOR_DATA);

    if (part->kind == PART_VENDOR_DATA || !vendor_data || !is_switched_off(enabled))
        return;
    findings_warn(
        check->findings, WARNING_VENDOR_DATA_UNUSED, part->line,
        "remove it from user-data where the vendor-data shall have an effect",
        "<%s>: line %d: 'vendor_data' switches vendor-data off, and there is some",
        part->element, enabled->line);
}

void
check_cloud_config(const struct check *check)
{
    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        cleanup_yaml struct yaml yaml = {0};
        const struct yaml_node *root =
            check_is_cloud_config(part) ? rules_read(&yaml, part) : NULL;

        if (!root)
            continue;
        rules_apply(check, part, root, rules);
        check_vendor_data(check, part, root);
    }
}
