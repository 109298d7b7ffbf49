/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: if cloud-init is installed on the host, its own 'cloud-init schema' reads
 * each cloud-config from a file in memory. Its findings become warnings, because the guest
 * may have another version. It quotes values, so it never sees a document that came from a
 * secret, nor one in the domain's XML that seems to contain one. It runs with a time limit,
 * and root runs it as nobody.
 *
 * If the user has cloud-init's JSON schema in a file, Python's jsonschema, which cloud-init
 * uses as well, checks the cloud-configs by that. It gets the values as JSON, as our own
 * reader of YAML reads them.
 */
#include "config.h"

#include <string.h>

#include "base/child.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "check/check.h"

#define SCHEMA_HINT                                                                      \
    "see cloud-init's module reference; 'virt-seed check --no-schema' skips this check"

/* `schema` is -1 if the program has its own. Return: as child_run(). */
static int
run(char *const *words, int document, int schema, bool silent, struct buffer *output)
{
    const int documents[] = {document, schema, -1};
    const struct child child = {
        .words = words,
        .documents = documents,
        .silent = silent,
        .output = LIMIT_SCHEMA_OUTPUT,
        .memory = LIMIT_SCHEMA_MEMORY,
        .seconds = LIMIT_SCHEMA_SECONDS,
        .unprivileged = true,
    };

    return document < 0 ? CHILD_MISSING : child_run(&child, output);
}

/* Turns each line that cloud-init reports into a warning.
 * Return: whether cloud-init is installed and answers. */
static bool
check_by_cloud_init(const struct check *check, const struct part *part, const char *type)
{
    static const char *const marks[] = {" schema errors: ", " schema deprecations: "};
    cleanup_free char *description = part_describe(part);
    cleanup_close int document = process_document("cloud-config", &part->data);
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", document);
    char *words[] = {(char *)"cloud-init",
                     (char *)"schema",
                     (char *)"--config-file",
                     path,
                     (char *)(type ? "--schema-type" : NULL),
                     (char *)type,
                     NULL};
    cleanup_buffer struct buffer output = {0};
    int status = run(words, document, -1, false, &output);
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
            check_warn(check, WARNING_SCHEMA, part->line, SCHEMA_HINT,
                       "%s: cloud-init's%s", description, mark);
            found = true;
        }
    }
    if (status == 0 || found)
        return true;
    /* Before 23.4 it has no --schema-type, and says so with 2. */
    if (type && status == 2)
        return true;
    if (status < 0)
        reason = "it took too long or printed too much";
    check_warn(check, WARNING_SCHEMA, part->line,
               "run 'cloud-init schema --config-file FILE', or use 'virt-seed check "
               "--no-schema'",
               "%s: the host's cloud-init could not check it (%s)", description, reason);
    return status >= 0;
}

/* Prints "PATH: MESSAGE" for each error. URLs in a schema are not fetched. Exits
 * with 3 if jsonschema is not installed, and with 4 if the file is not a schema. */
static const char script[] =
    "import json, sys\n"
    "try:\n"
    "    import jsonschema\n"
    "    from jsonschema.exceptions import best_match\n"
    "    from jsonschema.validators import validator_for\n"
    "except ImportError:\n"
    "    sys.exit(3)\n"
    "def refuse(url):\n"
    "    raise ValueError('refers to ' + url)\n"
    "schemes = dict.fromkeys(('http', 'https', 'ftp', 'file'), refuse)\n"
    "try:\n"
    "    schema = json.load(open(sys.argv[1], encoding='utf-8'))\n"
    "    kind = validator_for(schema, default=jsonschema.Draft4Validator)\n"
    "    kind.check_schema(schema)\n"
    "    resolver = jsonschema.RefResolver.from_schema(schema, handlers=schemes)\n"
    "    validator = kind(schema, resolver=resolver)\n"
    "    document = json.load(open(sys.argv[2], encoding='utf-8'))\n"
    "    for error in sorted(validator.iter_errors(document), key=lambda e: str(e.path)):\n"
    "        error = best_match([error])\n"
    "        path = '.'.join(str(key) for key in error.absolute_path)\n"
    "        print(json.dumps((path + ': ' if path else '') + error.message[:500],\n"
    "                         ensure_ascii=False)[1:-1])\n"
    "except Exception:\n"
    "    sys.exit(4)\n";

/* The same by the schema, a descriptor. Return: whether jsonschema is there. */
static bool
check_by_file(const struct check *check, const struct part *part, int schema)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_json json_t *value =
        yaml_load(part->data.data, part->data.size, YAML_ONE_DOCUMENT, &ignored);
    cleanup_free char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    const struct buffer content = {.data = text, .size = text ? strlen(text) : 0};
    cleanup_free char *description = part_describe(part);
    cleanup_buffer struct buffer output = {0};
    cleanup_close int document = -1;
    cleanup_free char *schema_path = xasprintf("/proc/self/fd/%d", schema);
    cleanup_free char *path = NULL;
    const char *reason = "the file is not a usable JSON schema";
    char *rest;
    int status;

    /* Text that is not YAML has been reported already. */
    if (!text)
        return true;
    document = schema < 0 ? schema : process_document("cloud-config", &content);
    path = xasprintf("/proc/self/fd/%d", document);
    status =
        run((char *[]){(char *)"python3", (char *)"-I", (char *)"-W", (char *)"ignore",
                       (char *)"-c", (char *)script, schema_path, path, NULL},
            document, schema, true, &output);
    if (status == CHILD_MISSING || status == 3)
        return false;
    rest = output.data;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        if (*line)
            check_warn(check, WARNING_SCHEMA, part->line,
                       "see cloud-init's reference of modules",
                       "%s: cloud-init's schema: %s", description, line);
    }
    if (status < 0)
        reason = "it took too long, or has too many errors";
    if (status != 0)
        check_warn(check, WARNING_SCHEMA, part->line,
                   "use schema-cloud-config-v1.json from cloud-init's source",
                   "%s: could not be checked by this schema (%s)", description, reason);
    return true;
}

void
check_schema(const struct check *check, const struct buffer *file)
{
    const bool network = !check->request->datasource->has_network_data;
    cleanup_close int schema = file ? process_document("schema", file) : -1;

    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        const char *type = NULL;
        bool checked;

        /* It quotes values, so it must not see secrets, real or suspected. */
        if (part->data.size == 0 || part->masked || part->origin == PART_SECRET)
            continue;
        if (check_has_warned(check, WARNING_INLINE_SECRET, part->line))
            continue;
        if (part->kind == PART_NETWORK_CONFIG && network && !file)
            type = "network-config";
        else if (part->kind == PART_VALUE || !check_is_cloud_config(part))
            continue;
        if (file)
            checked = check_by_file(check, part, schema);
        else
            checked = check_by_cloud_init(check, part, type);
        check->findings->schema = checked ? SCHEMA_CHECKED : SCHEMA_MISSING;
        if (!checked)
            return;
    }
}
