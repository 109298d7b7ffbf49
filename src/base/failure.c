/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/base.h"

#define FAILURE_CODE_NAME(name, text) [FAILURE_##name] = (text),
static const char *const code_names[] = {FAILURE_CODES(FAILURE_CODE_NAME)};

char *
failure_tidy(char *text)
{
    static const char ellipsis[] = "…";

    if (strlen(text) > LIMIT_MESSAGE)
        memcpy(text + LIMIT_MESSAGE - strlen(ellipsis), ellipsis, sizeof(ellipsis));
    utf8_replace_controls(text);
    return text;
}

/* The newline that starts the hint is looked for in the format: one in a value does not
 * count. */
int
failure_set_whole(struct failure **failure, enum failure_code code, int line, int error,
                  const char *format, ...)
{
    size_t length = strcspn(format, "\n");
    cleanup_free char *message_format = xstrndup(format, length);
    cleanup_free char *text = NULL;
    cleanup_free char *message = NULL;
    va_list arguments;

    assert(!*failure);
    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    /* Clang cannot check a format that is part of another one. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    message = xvasprintf(message_format, arguments);
#pragma GCC diagnostic pop
    va_end(arguments);
    *failure = xcalloc(1, sizeof(**failure));
    (*failure)->code = code;
    (*failure)->line = line;
    if (format[length])
        (*failure)->hint = failure_tidy(xstrdup(text + strlen(message) + 1));
    (*failure)->message = failure_tidy(
        error ? xasprintf("%s: %s", message, strerror(abs(error))) : steal(message));
    return -1;
}

int
failure_hint(struct failure **failure, const char *format, ...)
{
    va_list arguments;

    if ((*failure)->hint)
        return -1;
    va_start(arguments, format);
    (*failure)->hint = failure_tidy(xvasprintf(format, arguments));
    va_end(arguments);
    return -1;
}

int
failure_prefix(struct failure **failure, const char *format, ...)
{
    cleanup_free char *context = NULL;
    cleanup_free char *message = (*failure)->message;
    va_list arguments;

    va_start(arguments, format);
    context = xvasprintf(format, arguments);
    va_end(arguments);
    (*failure)->message = failure_tidy(xasprintf("%s: %s", context, message));
    return -1;
}

char *
failure_text(const struct failure *failure)
{
    if (!failure->hint)
        return xstrdup(failure->message);
    return xasprintf("%s; %s", failure->message, failure->hint);
}

const char *
failure_code_name(enum failure_code code)
{
    return code_names[code];
}

void
failure_free(struct failure *failure)
{
    if (!failure)
        return;
    free(failure->part);
    free(failure->message);
    free(failure->hint);
    free(failure);
}

/* One write per line, so that the lines of parallel processes do not mix. */
void
print_failure_as(const char *severity, const struct failure *failure)
{
    fprintf(stderr, "virt-seed: %s: %s\n", severity, failure->message);
    if (failure->hint)
        fprintf(stderr, "virt-seed: hint: %s\n", failure->hint);
}
