/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/text.h"

static void
append_safely(struct buffer *buffer, const char *text, size_t size, const char *allowed)
{
    for (size_t i = 0; i < size;) {
        size_t unfit = utf8_unfit_length(text + i, size - i);
        bool keep = unfit == 0 || (text[i] && strchr(allowed, text[i]));

        buffer_append(buffer, keep ? &text[i] : "?", 1);
        i += keep ? 1 : unfit;
    }
}

static void
print_safely(FILE *stream, const char *text, size_t size, const char *allowed)
{
    cleanup_buffer struct buffer safe = {0};

    append_safely(&safe, text, size, allowed);
    if (safe.size > 0)
        fwrite(safe.data, 1, safe.size, stream);
}

void
print_outside_text(FILE *stream, const char *text, size_t size)
{
    print_safely(stream, text, size, "\n\t");
}

void
print_outside_string(FILE *stream, const char *text)
{
    print_safely(stream, text, strlen(text), "");
}

void
print_outside_line(FILE *stream, const char *format, ...)
{
    cleanup_free char *line = NULL;
    va_list arguments;

    va_start(arguments, format);
    line = xvasprintf(format, arguments);
    va_end(arguments);
    print_outside_string(stream, line);
    putc('\n', stream);
}

/* In one write, so that lines of processes that run side by side stay lines. */
static void
print_line(const char *kind, const char *text)
{
    cleanup_buffer struct buffer line = {0};

    buffer_printf(&line, "virt-seed: %s: ", kind);
    append_safely(&line, text, strlen(text), "");
    buffer_append_string(&line, "\n");
    fwrite(line.data, 1, line.size, stderr);
}

static void
print_as(const char *kind, const struct failure *failure)
{
    print_line(kind, failure->message);
    if (failure->hint)
        print_line("hint", failure->hint);
}

void
print_failure(const struct failure *failure)
{
    print_as("error", failure);
}

void
print_warning(const struct failure *failure)
{
    print_as("warning", failure);
}
