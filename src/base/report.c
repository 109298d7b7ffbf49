/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/report.h"

void
report_text(FILE *stream, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];

        if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f)
            byte = '?';
        putc(byte, stream);
    }
}

void
report_string(FILE *stream, const char *text)
{
    report_text(stream, text, strlen(text));
}

static void
report_line(const char *kind, const char *text)
{
    fprintf(stderr, "virt-seed: %s: ", kind);
    report_string(stderr, text);
    putc('\n', stderr);
}

void
report_failure(const struct failure *failure)
{
    report_line("error", failure->message);
    if (failure->hint)
        report_line("hint", failure->hint);
}
