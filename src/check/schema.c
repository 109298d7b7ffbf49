/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: if cloud-init is installed on the host, its own 'cloud-init schema' reads
 * each cloud-config from a file in memory. It quotes values, so it never sees a document that
 * came from a secret, nor one in the domain's XML that seems to contain one. It runs with a
 * time limit, and root runs it as nobody.
 *
 * Otherwise, the schemas in schemas/ are applied here: messages quote keys, but no values,
 * and of a secret not even keys. All findings are warnings, because the guest may have another
 * version.
 */
#include "config.h"

#include "base/child.h"
#include "base/json.h"
#include "base/process.h"
#include "check/check.h"
#include "check/json-schema.h"

#define SCHEMA_HINT                                                                      \
    "see the module reference of the guest's cloud-init, which may be another version"

/* Turns each line that cloud-init reports into a warning.
 * Return: whether cloud-init is installed and has checked the part. */
static bool
check_by_cloud_init(const struct check *check, const struct part *part, const char *type)
{
    static const char *const marks[] = {" schema errors: ", " schema deprecations: "};
    cleanup_close int document = process_document("cloud-config", &part->data);
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", document);
    const char *const words[] = {
        "cloud-init", "schema", "--config-file", path, type ? "--schema-type" : NULL,
        type,         NULL};
    const int documents[] = {document, -1};
    const struct child child = {
        .words = words,
        .documents = documents,
        .output = LIMIT_SCHEMA_OUTPUT,
        .memory = LIMIT_SCHEMA_MEMORY,
        .seconds = LIMIT_SCHEMA_SECONDS,
        .unprivileged = true,
    };
    cleanup_buffer struct buffer output = {0};
    int status = document < 0 ? CHILD_MISSING : child_run(&child, &output);
    const char *reason = "it failed";
    char *rest = output.data;
    bool found = false;

    if (status == CHILD_MISSING)
        return false;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
            const char *mark = strstr(line, marks[i]);

            if (!mark || !mark[strlen(marks[i])])
                continue;
            check_warn_of(check, WARNING_SCHEMA, part, 0, SCHEMA_HINT, ": cloud-init's%s",
                          mark);
            found = true;
        }
    }
    if (status == 0 || found)
        return true;
    /* Before 23.4 it has no --schema-type, and says so with 2. */
    if (type && status == 2)
        return false;
    if (status < 0)
        reason = "it took too long or printed too much";
    check_warn_of(check, WARNING_SCHEMA, part, 0,
                  "see why: cloud-init schema --config-file FILE",
                  ": the host's cloud-init could not check it (%s)", reason);
    return false;
}

/* --- by the schemas of virt-seed ------------------------------------------------------ */

static const char cloud_config_schema[] = {
#include "check/schemas/cloud-config.inc"
};

static const char network_config_schema[] = {
#include "check/schemas/network-config.inc"
};

/* Return: the line of what the path leads to; of the key, if that is written there. */
static int
find_line(const struct yaml_node *root, const json_t *path)
{
    const struct yaml_node *node = root;
    int line = root->line;
    const json_t *step;
    size_t i;

    json_array_foreach(path, i, step) {
        const char *key = json_string_value(step);
        json_int_t index = json_integer_value(step);
        const struct yaml_item *item = NULL;

        /* If a key is repeated, the last one counts. */
        yaml_foreach(one, node) {
            if (key ? one->key && strcmp(one->key->text, key) == 0 : index-- == 0)
                item = one;
        }
        if (!item) /* It was merged ('<<'). */
            return line;
        line = item->key ? item->key->line : item->value->line;
        node = item->value;
    }
    return line;
}

/* Return: the path as it is written in messages, owned by the caller (free). */
static char *
path_text(const struct part *part, const json_t *path)
{
    cleanup_buffer struct buffer text = {0};
    const json_t *step;
    size_t i;

    json_array_foreach(path, i, step) {
        const char *key = json_string_value(step);

        buffer_printf(&text, "%s%.256s", i > 0 ? "." : "",
                      key && part->origin != PART_SECRET ? key : "*");
    }
    return xstrdup(buffer_text(&text));
}

/* Return: whether there is a warning of the part that begins so; with that id, unless it is
 * NULL. */
static bool
has_warning(const struct check *check, const struct part *part, const char *id,
            const char *begin)
{
    for (size_t i = 0; i < check->findings->count; i++) {
        const struct finding *found = &check->findings->list[i];
        const bool is_kind = !id || strcmp(found->id, id) == 0;

        if (is_kind && found->failure->line == part->line &&
            strncmp(found->failure->message, begin, strlen(begin)) == 0)
            return true;
    }
    return false;
}

static void
warn_of_error(const struct check *check, const struct part *part,
              const struct yaml_node *root, const char *version,
              const struct schema_error *error)
{
    cleanup_free char *description = part_describe(part);
    cleanup_free char *path = path_text(part, error->path);
    const int line = find_line(root, error->path);
    cleanup_free char *begin = xasprintf("%s: line %d: ", description, line);

    /* The rules on values say better what is wrong with one. */
    if (error->allowed && has_warning(check, part, NULL, begin))
        return;
    check_warn_of(check, WARNING_SCHEMA, part, line, SCHEMA_HINT,
                  ": '%s' %s, by the schema of %s", *path ? path : "the document",
                  error->message, version);
}

/* Return: whether it was checked; else it is too large. */
static bool
check_by_schema(const struct check *check, const struct part *part, bool network)
{
    const char *text = network ? network_config_schema : cloud_config_schema;
    cleanup_json json_t *schema = xchecked(json_loads(text, 0, NULL));
    const char *version = json_string_value(json_object_get(schema, "title"));
    cleanup_schema_errors struct schema_errors errors = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root = rules_read(&yaml, part);
    cleanup_json json_t *document =
        yaml_load(part->data.data, part->data.size, YAML_APPROXIMATE, &ignored);
    const json_t *value = document;
    bool is_complete;

    /* What is empty or cannot be read is reported elsewhere. */
    if (!root || !document)
        return true;
    if (network && json_object_get(value, "network")) {
        value = json_object_get(value, "network");
        root = yaml_get(root, "network");
    }
    /* cloud-init's schema of version 2 refuses much that netplan accepts. */
    if (network && json_integer_value(json_object_get(value, "version")) != 1)
        return true;
    is_complete = schema_validate(schema, value, &errors);
    for (size_t i = 0; i < errors.count; i++)
        warn_of_error(check, part, root, version, &errors.list[i]);
    return is_complete;
}

/* --- the documents ------------------------------------------------------------------ */

/* Return: why the part's cloud-configs are not checked; NULL if they are, or if it has
 * none. */
static const char *
reason_to_skip(const struct part *part)
{
    if (part->kind != PART_USER_DATA && part->kind != PART_VENDOR_DATA)
        return NULL;
    if (part->masked)
        return "its secret cannot be read";
    switch ((int)user_data_kind(part->data.data, part->data.size)) {
    case USER_DATA_GZIP:
    case USER_DATA_MIME:
        return "it is packed";
    case USER_DATA_TEMPLATE:
        return "it is a template";
    case USER_DATA_ARCHIVE:
    case USER_DATA_JSONP:
        return "it is not a cloud-config itself, but contains some";
    default:
        return NULL;
    }
}

static void
note_skipped(const struct check *check, const struct part *part, const char *reason)
{
    cleanup_free char *description = part_describe(part);

    check->findings->schema = SCHEMA_SKIPPED;
    texts_add(&check->findings->skipped, &check->findings->skipped_count,
              xasprintf("%s was not checked by the schema: %s", description, reason));
}

void
check_schema(const struct check *check)
{
    const bool reads_network = !check->request->datasource->has_network_data;
    struct findings *findings = check->findings;

    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        const bool network =
            part->kind == PART_NETWORK_CONFIG && reads_network && !part->masked;
        const char *reason = reason_to_skip(part);
        const bool may_be_quoted =
            part->origin != PART_SECRET && !has_warning(check, part, "inline-secret", "");

        if (reason)
            note_skipped(check, part, reason);
        if (reason || part->data.size == 0 || (!network && !check_is_cloud_config(part)))
            continue;
        if (findings->schema == SCHEMA_UNUSED)
            findings->schema = SCHEMA_CHECKED;
        if (may_be_quoted &&
            check_by_cloud_init(check, part, network ? "network-config" : NULL))
            continue;
        if (!check_by_schema(check, part, network))
            note_skipped(check, part, "it is too large");
    }
}
