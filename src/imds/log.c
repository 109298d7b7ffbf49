/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "imds/log.h"

/* How often it is said that lines were left out. */
#define PERIOD_SECONDS 10

static unsigned int left_out;

static void
write_line(char *text)
{
    cleanup_free char *line = NULL;

    utf8_repair(text);
    utf8_replace_controls(text);
    line = xasprintf("virt-seed-imds: %s\n", text);
    fputs(line, stderr);
}

static void
say_left_out(void)
{
    static time_t said;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - said < PERIOD_SECONDS)
        return;
    said = now.tv_sec;
    log_end();
}

void
log_leave_out(void)
{
    left_out++;
}

void
log_end(void)
{
    if (left_out > 0)
        fprintf(stderr, "virt-seed-imds: %u messages were left out\n", left_out);
    left_out = 0;
}

void
log_line(const char *format, ...)
{
    cleanup_free char *text = NULL;
    va_list arguments;

    say_left_out();
    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    write_line(text);
}
