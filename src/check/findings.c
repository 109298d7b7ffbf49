/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "check/findings.h"

#define WARNING_TEXT(name, text) [WARNING_##name] = (text),
static const char *const names[] = {WARNINGS(WARNING_TEXT)};
#undef WARNING_TEXT

static void
add(struct findings *findings, const struct finding *finding)
{
    findings->list =
        xreallocarray(findings->list, findings->count + 1, sizeof(*findings->list));
    findings->list[findings->count++] = *finding;
    findings->errors += finding->error;
}

void
findings_warn(struct findings *findings, enum warning id, int line, const char *hint,
              const char *format, ...)
{
    va_list arguments;
    char *message;

    if (findings->count >= LIMIT_FINDINGS)
        return;
    va_start(arguments, format);
    message = xvasprintf(format, arguments);
    va_end(arguments);
    if (strlen(message) > LIMIT_MESSAGE)
        message[LIMIT_MESSAGE] = '\0';
    utf8_repair(message);
    utf8_replace_controls(message);
    add(findings,
        &(struct finding){
            .id = names[id], .line = line, .message = message, .hint = xstrdup(hint)});
}

bool
findings_have(const struct findings *findings, enum warning id, int line)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->list[i].id == names[id] && findings->list[i].line == line)
            return true;
    }
    return false;
}

void
findings_take(struct findings *findings, struct failure **failure)
{
    struct failure *taken = *failure;
    struct finding finding = {0};

    if (!taken)
        return;
    finding.error = taken->code != FAILURE_SECRET_UNREADABLE;
    finding.id = failure_code_name(taken->code);
    finding.line = taken->line;
    finding.message = steal(taken->message);
    finding.hint = steal(taken->hint);
    add(findings, &finding);
    failure_free(taken);
    *failure = NULL;
}

void
findings_clear(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->list[i].message);
        free(findings->list[i].hint);
    }
    free(findings->list);
    *findings = (struct findings){0};
}
