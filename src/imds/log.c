/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "imds/log.h"

/* Lines of one period. */
#define PERIOD_SECONDS 10
#define PERIOD_LINES 100

static void
write_line(char *text)
{
    cleanup_free char *line = NULL;

    utf8_repair(text);
    utf8_replace_controls(text);
    line = xasprintf("virt-seed-imds: %s\n", text);
    fputs(line, stderr);
}

/* Return: whether there is room for another line; counts those that there was none for. */
static bool
may_say(void)
{
    static time_t began;
    static unsigned int said, left_out;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - began >= PERIOD_SECONDS) {
        if (left_out > 0)
            fprintf(stderr, "virt-seed-imds: %u messages were left out\n", left_out);
        began = now.tv_sec;
        said = left_out = 0;
    }
    if (said < PERIOD_LINES) {
        said++;
        return true;
    }
    left_out++;
    return false;
}

void
log_line(const char *format, ...)
{
    cleanup_free char *text = NULL;
    va_list arguments;

    if (!may_say())
        return;
    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    write_line(text);
}
