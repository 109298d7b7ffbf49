/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The request's own metadata. Keys that would break the guest are errors
 * (seed/meta-data.c). */
#include "config.h"

#include "check/check.h"

/* True and false are harmless. */
static bool
is_misread(const struct check *check, const struct yaml_node *node)
{
    if (node->type == YAML_NULL || rules_is_as_written(node))
        return false;
    return strcasecmp(node->text, "true") != 0 && strcasecmp(node->text, "false") != 0;
}

static const struct rule rules[] = {
    {PATHS("*"), is_misread, EXPECTS_AS_WRITTEN},
    {.paths = NULL},
};

static void
check_part(const struct check *check, const struct part *part)
{
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root =
        part->origin == PART_FILE ? rules_read(&yaml, part) : NULL;

    if (root)
        rules_apply(check, part, root, rules);
}

void
check_meta_data(const struct check *check)
{
    const struct request *request = check->request;
    const enum instance_id_policy policy = request->instance_id_policy;

    parts_foreach(part, &request->parts, PART_META_DATA)
        check_part(check, part);
    if (request->cache && policy == INSTANCE_ID_CONTENT)
        check_warn(check, WARNING_WITHOUT_EFFECT, request->line,
                   "remove cache=, or use policy=\"domain\"",
                   "policy=\"content\" makes a new instance-id when the seed changes, "
                   "but with cache=\"keep\" the guest does not read it");
    /* DataSourceConfigDrive, check_instance_id */
    if (policy == INSTANCE_ID_FIXED && request->datasource->derives_instance_id &&
        strcasecmp(request->instance_id, check->domain->uuid) == 0)
        check_warn(
            check, WARNING_WITHOUT_EFFECT, request->line,
            "to have later changes applied, give it another instance-id: the guest "
            "is then set up again",
            "the instance-id is the domain's UUID: on a ConfigDrive, cloud-init then "
            "keeps what it read at the first boot, and misses every change of the "
            "seed");
    /* The seed's path or URL still contains the UUID of the original. */
    if (check->facts->seed_of_another && policy == INSTANCE_ID_FIXED)
        check_warn(check, WARNING_CLONED_INSTANCE_ID, request->line,
                   "give it its own instance-id, or use policy=\"domain\"",
                   "the domain is a clone with the fixed instance-id of the original: "
                   "the guest would not notice that it is a new instance");
}
