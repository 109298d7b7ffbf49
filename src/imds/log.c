/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "imds/log.h"

/* How often it is said that lines were left out. */
#define PERIOD_SECONDS 10

static unsigned int left_out;

/* Return: whether there is room for a line now. While the journal is stuck, guests are served
 * all the same. */
static bool
has_room(void)
{
    struct pollfd log = {.fd = STDERR_FILENO, .events = POLLOUT};

    return poll(&log, 1, 0) != 0;
}

void
log_leave_out(void)
{
    left_out++;
}

void
log_end(void)
{
    if (left_out == 0 || !has_room())
        return;
    fprintf(stderr, "virt-seed-imds: %u messages were left out\n", left_out);
    left_out = 0;
}

void
log_line(const char *format, ...)
{
    static time_t said;
    cleanup_free char *text = NULL;
    struct timespec now;
    va_list arguments;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - said >= PERIOD_SECONDS) {
        said = now.tv_sec;
        log_end();
    }
    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    utf8_repair(text);
    utf8_replace_controls(text);
    if (has_room())
        fprintf(stderr, "virt-seed-imds: %s\n", text);
    else
        left_out++;
}
