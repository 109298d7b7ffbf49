/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: on a terminal the lines of the domains that are waited for stand above the
 * cursor, which is at the beginning of the line below them. To redraw them it goes up, and
 * whatever is printed for good is printed in their place, and they below it.
 */
#include "config.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/print.h"
#include "cli/columns.h"
#include "cli/progress-screen.h"

#define DEFAULT_COLUMNS 80
#define DEFAULT_ROWS 24
/* A name's share of a line. */
#define NAME_COLUMNS 30

static void
find_size(size_t *columns, size_t *rows)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;

    *columns = known && size.ws_col > 0 ? size.ws_col : DEFAULT_COLUMNS;
    *rows = known && size.ws_row > 1 ? size.ws_row : DEFAULT_ROWS;
}

/* Takes the lines away, and what a key like Ctrl-C has left behind them. */
static void
append_erase(struct progress *progress, struct buffer *text)
{
    cleanup_free char *up = xasprintf("\033[%zuA", progress->drawn);

    buffer_append_string(text, "\r");
    if (progress->drawn > 0)
        buffer_append_string(text, up);
    buffer_append_string(text, "\033[J");
    progress->drawn = 0;
}

static long
seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - start->tv_sec - (now.tv_nsec < start->tv_nsec);
}

/* Return: the row's line, which is not longer than the terminal is wide, owned by the
 * caller (free). */
static char *
format_row(const struct progress *progress, const struct progress_row *row,
           size_t columns)
{
    const char *stage = guest_stage_name(row->stage);
    cleanup_free char *name = xstrdup(row->name);
    char *line;

    columns_cut(name, NAME_COLUMNS);
    line = xasprintf("%s  %-14s  %ld s  %s", name, stage ? stage : "-",
                     seconds_since(&progress->start), row->event);
    /* The last column would make some terminals begin another line. */
    columns_cut(line, columns - 1);
    return line;
}

static void
append_rows(struct progress *progress, struct buffer *text)
{
    size_t columns, rows;

    find_size(&columns, &rows);
    for (size_t i = 0; i < progress->count && progress->drawn + 1 < rows; i++) {
        cleanup_free char *line = progress->rows[i]->over
                                      ? NULL
                                      : format_row(progress, progress->rows[i], columns);

        if (!line)
            continue;
        buffer_append_string(text, line);
        buffer_append_string(text, "\n");
        progress->drawn++;
    }
}

void
progress_redraw(struct progress *progress, const char *text)
{
    cleanup_buffer struct buffer screen = {0};

    if (progress->style == PROGRESS_LIVE)
        append_erase(progress, &screen);
    if (text)
        buffer_append_string(&screen, text);
    if (progress->style == PROGRESS_LIVE)
        append_rows(progress, &screen);
    if (screen.size > 0)
        fwrite(screen.data, 1, screen.size, stdout);
    fflush(stdout);
}

void
progress_print_error(struct progress *progress, const struct failure *failure)
{
    cleanup_buffer struct buffer screen = {0};

    if (progress->style == PROGRESS_LIVE) {
        append_erase(progress, &screen);
        fwrite(screen.data, 1, screen.size, stdout);
        fflush(stdout);
    }
    print_failure(failure);
    if (progress->style == PROGRESS_LIVE)
        progress_redraw(progress, NULL);
}
