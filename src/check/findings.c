/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "check/findings.h"

#define WARNING_TEXT(name, text) [WARNING_##name] = (text),
static const char *const names[] = {WARNINGS(WARNING_TEXT)};
#undef WARNING_TEXT

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
    *array_add(findings->list, findings->count) = (struct finding){
        .id = names[id], .line = line, .message = message, .hint = xstrdup(hint)};
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
    struct failure *taken = steal(*failure);
    bool error;

    if (!taken)
        return;
    error = taken->code != FAILURE_SECRET_UNREADABLE;
    *array_add(findings->list, findings->count) = (struct finding){
        .error = error,
        .id = failure_code_name(taken->code),
        .line = taken->line,
        .message = steal(taken->message),
        .hint = steal(taken->hint),
    };
    findings->errors += error;
    failure_free(taken);
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
