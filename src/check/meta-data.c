/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The request's own metadata: keys that mean something to cloud-init, or seem to. Keys
 * that would break the guest are errors (seed/meta-data.c). */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "check/check.h"

static const struct meaning {
    const char *key;
    const char *message;
    const char *hint;
} meanings[] = {
    {"hostname", "is not where cloud-init reads the host name from", "write <hostname>"},
    {"launch-index", "makes cloud-init drop user-data parts with a different index",
     "choose another name for the key"},
};

static void
check_key(const struct check *check, const struct part *part, int line, const char *key)
{
    for (size_t i = 0; i < ARRAY_SIZE(meanings); i++) {
        const struct meaning *meaning = &meanings[i];
        cleanup_free char *description = NULL;

        if (strcmp(meaning->key, key) != 0)
            continue;
        description = part ? part_describe(part) : NULL;
        check_warn(check, WARNING_META_DATA_KEY, line, meaning->hint,
                   "%s: the key '%s' %s", description ? description : "<meta-data>",
                   meaning->key, meaning->message);
    }
}

/* True and false are harmless. */
static bool
is_misread(const struct check *check, const struct yaml_node *node)
{
    if (node->type == YAML_NULL || rules_is_as_written(node))
        return false;
    return strcasecmp(node->text, "true") != 0 && strcasecmp(node->text, "false") != 0;
}

static const struct rule rules[] = {
    {{"*"},
     is_misread,
     WARNING_YAML_VALUE,
     "is not text in YAML, so the guest would get a different value",
     "put it in quotes: YAML reads 010 as 8, and yes as true"},
    {.paths = {NULL}},
};

static void
check_part(const struct check *check, const struct part *part)
{
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root =
        part->origin == PART_FILE ? rules_read(&yaml, part) : NULL;

    if (part->key)
        check_key(check, part, part->line, part->key);
    for (size_t i = 0; i < part->entry_count; i++)
        check_key(check, part, part->line, part->entries[i].key);
    if (!root)
        return;
    rules_apply(check, part, root, rules);
    for (size_t i = 0; i < ARRAY_SIZE(meanings); i++) {
        if (yaml_get(root, meanings[i].key))
            check_key(check, part, part->line, meanings[i].key);
    }
}

void
check_meta_data(const struct check *check)
{
    const struct request *request = check->request;
    const enum instance_id_policy policy = request->instance_id_policy;

    for (size_t i = 0; i < request->meta_data_count; i++)
        check_key(check, NULL, request->line, request->meta_data[i].key);
    for (const struct part *part = parts_find(&request->parts, PART_META_DATA); part;
         part = parts_next(&request->parts, part))
        check_part(check, part);
    if (request->cache && policy == INSTANCE_ID_CONTENT)
        check_warn(check, WARNING_WITHOUT_EFFECT, request->line,
                   "remove cache=, or use policy=\"domain\"",
                   "policy=\"content\" makes a new instance-id when the seed changes, "
                   "but with cache=\"keep\" the guest does not read it");
    /* The seed's path or URL still contains the UUID of the original. */
    if (check->facts->seed_of_another && policy == INSTANCE_ID_FIXED)
        check_warn(check, WARNING_CLONED_INSTANCE_ID, request->line,
                   "give it its own instance-id, or use policy=\"domain\"",
                   "the domain is a clone with the fixed instance-id of the original: "
                   "the guest would not notice that it is a new instance");
    /* Changing NICs is rarely meant to set the guest up again. */
    if ((request->covers & COVER_NETWORK_CONFIG) && request->network &&
        request->network->of_interfaces)
        check_warn(
            check, WARNING_VOLATILE_INSTANCE_ID, request->line,
            "if this is not intended, list only the other documents in covers=",
            "the instance-id of policy=\"content\" covers the network of the domain's "
            "interfaces: adding, removing or changing one sets the guest up again");
}
