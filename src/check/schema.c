/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: if cloud-init is installed on the host, its own 'cloud-init schema' reads
 * each cloud-config from a file in memory. Its findings become warnings, because the guest
 * may have another version. It quotes values, so it never sees a document that came from a
 * secret or seems to contain one. It runs with a time limit.
 */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "check/check.h"

#define SCHEMA_HINT                                                                      \
    "see cloud-init's module reference; 'virt-seed check --no-schema' skips this check"

/* Turns each line that cloud-init reports into a warning.
 * Return: whether cloud-init is installed and answers. */
static bool
check_part_schema(const struct check *check, const struct part *part, const char *type)
{
    static const char *const marks[] = {" schema errors: ", " schema deprecations: "};
    cleanup_free char *description = part_describe(part);
    cleanup_close int file = child_document("cloud-config", &part->data);
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", file);
    char *words[] = {(char *)"cloud-init",
                     (char *)"schema",
                     (char *)"--config-file",
                     path,
                     (char *)(type ? "--schema-type" : NULL),
                     (char *)type,
                     NULL};
    const int documents[] = {file, -1};
    const struct child child = {
        .words = words,
        .documents = documents,
        .output = LIMIT_SCHEMA_OUTPUT,
        .memory = LIMIT_SCHEMA_MEMORY,
        .seconds = LIMIT_SCHEMA_SECONDS,
    };
    cleanup_buffer struct buffer output = {0};
    int status = file < 0 ? CHILD_MISSING : child_run(&child, &output);
    char *rest = output.size > 0 ? output.data : NULL;
    bool found = false;

    if (status == CHILD_MISSING)
        return false;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
            const char *mark = strstr(line, marks[i]);

            if (!mark || !mark[strlen(marks[i])])
                continue;
            findings_warn(check->findings, WARNING_SCHEMA, part->line, SCHEMA_HINT,
                          "%s: cloud-init's%s", description, mark);
            found = true;
        }
    }
    /* Before 23.4 it has no --schema-type, and says so with 2. */
    if (status == 0 || found || (type && status == 2))
        return true;
    findings_warn(check->findings, WARNING_SCHEMA, part->line,
                  "run 'cloud-init schema --config-file FILE', or use 'virt-seed check "
                  "--no-schema'",
                  "%s: the host's cloud-init could not check it (%s)", description,
                  status < 0 ? "it took too long or printed too much" : "it failed");
    return status >= 0;
}

void
check_schema(const struct check *check)
{
    bool network = request_is_nocloud(check->request);

    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        const char *type = NULL;

        /* It quotes values, so it must not see secrets, real or suspected. */
        if (part->data.size == 0 || part->masked || part->origin == PART_SECRET ||
            findings_have(check->findings, WARNING_INLINE_SECRET, part->line))
            continue;
        if (part->kind == PART_NETWORK_CONFIG && network)
            type = "network-config";
        else if (part->kind == PART_VALUE || !check_is_cloud_config(part))
            continue;
        if (!check_part_schema(check, part, type))
            return;
    }
}
