/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: if cloud-init is installed on the host, its own 'cloud-init schema' reads
 * each cloud-config from a file in memory. Its findings become warnings, because the guest
 * may have another version. It quotes values, so it never sees a document that came from a
 * secret, nor one in the domain's XML that seems to contain one. It runs with a time limit,
 * and root runs it as nobody.
 */
#include "config.h"

#include <string.h>

#include "base/child.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "check/check.h"

#define SCHEMA_HINT                                                                      \
    "see cloud-init's module reference; 'virt-seed check --no-schema' skips this check"

/* Return: as child_run(). */
static int
run(char *const *words, int document, struct buffer *output)
{
    const int documents[] = {document, -1};
    const struct child child = {
        .words = words,
        .documents = documents,
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
    int status = run(words, document, &output);
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

void
check_schema(const struct check *check)
{
    const bool network = !check->request->datasource->has_network_data;

    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        const char *type = NULL;
        bool checked;

        /* It quotes values, so it must not see secrets, real or suspected. */
        if (part->data.size == 0 || part->masked || part->origin == PART_SECRET)
            continue;
        if (check_has_warned(check, WARNING_INLINE_SECRET, part->line))
            continue;
        if (part->kind == PART_NETWORK_CONFIG && network)
            type = "network-config";
        else if (part->kind == PART_VALUE || !check_is_cloud_config(part))
            continue;
        checked = check_by_cloud_init(check, part, type);
        check->findings->schema = checked ? SCHEMA_CHECKED : SCHEMA_MISSING;
        if (!checked)
            return;
    }
}
