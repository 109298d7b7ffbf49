/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: on a terminal, the domains that are waited for have a line each, and the
 * cursor is at the beginning of the line below. To redraw them, the cursor goes up.
 * Whatever is to stay is printed over them, and they follow below it.
 *
 * Text from outside is made safe to print before it gets here, or here.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/io.h"
#include "cli/progress.h"

/* --- the terminal ------------------------------------------------------------------ */

#define DEFAULT_COLUMNS 80
#define DEFAULT_ROWS 24
/* A name's share of a line. */
#define NAME_COLUMNS 30

/* Erases the lines, and what a key such as Ctrl-C has printed after them. */
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

/* No line is longer than the terminal is wide. */
static void
append_rows(struct progress *progress, struct buffer *text)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    size_t columns = known && size.ws_col > 0 ? size.ws_col : DEFAULT_COLUMNS;
    size_t rows = known && size.ws_row > 1 ? size.ws_row : DEFAULT_ROWS;
    const long seconds = (long)(clock_milliseconds() - progress->start) / 1000;
    size_t left = 0;

    for (size_t i = 0; i < progress->count; i++)
        left += !progress->rows[i]->is_finished;
    for (size_t i = 0; left > 0; i++) {
        const struct progress_row *row = progress->rows[i];
        const char *stage = guest_stage_name(row->stage);
        cleanup_free char *name = xstrdup(row->name);
        cleanup_free char *line = NULL;

        if (row->is_finished)
            continue;
        /* The cursor is on the last line, and the line above it counts the domains that
         * do not fit. */
        if (left > 1 && progress->drawn + 2 >= rows) {
            cleanup_free char *rest = xasprintf("… and %zu more\n", left);

            buffer_append_string(text, rest);
            progress->drawn++;
            break;
        }
        left--;
        columns_cut(name, NAME_COLUMNS);
        line = xasprintf("%s  %-14s  %ld s  %s", name, stage ? stage : "-", seconds,
                         row->event);
        /* The last column would make some terminals begin another line. */
        columns_cut(line, columns - 1);
        buffer_append_string(text, line);
        buffer_append_string(text, "\n");
        progress->drawn++;
    }
}

/* In one piece, so that a terminal shows no half of it. */
static void
print_screen(struct buffer *screen)
{
    if (screen->size > 0)
        fwrite(screen->data, 1, screen->size, stdout);
    fflush(stdout);
    buffer_clear(screen);
}

/* Prints the text or the failure; on a terminal in the place of the lines, which are drawn
 * again below it. */
static void
redraw(struct progress *progress, const char *text, const struct failure *failure)
{
    const bool is_live = progress->style == PROGRESS_LIVE;
    struct buffer screen = {0};

    if (is_live)
        append_erase(progress, &screen);
    if (failure) {
        print_screen(&screen);
        print_failure(failure);
    }
    if (text)
        buffer_append_string(&screen, text);
    if (is_live)
        append_rows(progress, &screen);
    print_screen(&screen);
}

/* --- events ----------------------------------------------------------------------- */

/* Takes the object's members for an event of the domain's. */
static void
print_object(const struct progress_row *row, const char *event, json_t *members)
{
    cleanup_json json_t *object = json_pack("{s:s, s:s, s:s}", "domain", row->name,
                                            "uuid", row->uuid, "event", event);
    cleanup_free char *text = NULL;

    json_must(json_object_update(object, members));
    json_decref(members);
    text = xchecked(json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII));
    puts(text);
    fflush(stdout);
}

/* Takes the text. */
static void
set_event(struct progress_row *row, char *event)
{
    const enum progress_style style = row->progress->style;
    cleanup_free char *line = NULL;

    free(row->event);
    row->event = event;
    if (style == PROGRESS_LINES)
        line = xasprintf("%s: %s\n", row->name, event);
    if (style == PROGRESS_LINES || style == PROGRESS_LIVE)
        redraw(row->progress, line, NULL);
}

void
progress_note(struct progress_row *row, const char *event)
{
    if (row->progress->style == PROGRESS_JSON)
        print_object(row, event, json_object());
    else
        set_event(row, xstrdup(event));
}

void
progress_wait_for(struct progress_row *row, const char *what)
{
    if (row->progress->style != PROGRESS_JSON)
        set_event(row, xasprintf("waiting for %s", what));
}

/* A guest can go on forever, and our output may be kept. */
static bool
says_too_much(struct progress_row *row)
{
    if (row->events > LIMIT_EVENTS)
        return true;
    if (++row->events <= LIMIT_EVENTS)
        return false;
    progress_note(row, "silenced");
    return true;
}

static void
clear_texts(struct progress_texts *texts)
{
    texts_free(texts->list, texts->count);
    *texts = (struct progress_texts){0};
}

static void
show_boot(struct progress_row *row, const char *boot)
{
    bool again = row->boot[0];

    snprintf(row->boot, sizeof(row->boot), "%s", boot);
    memset(row->stages, 0, sizeof(row->stages));
    row->stage = GUEST_STAGE_NONE;
    clear_texts(&row->errors);
    clear_texts(&row->warnings);
    if (says_too_much(row))
        return;
    if (row->progress->style == PROGRESS_JSON)
        print_object(row, "boot", json_pack("{s:s}", "boot", boot));
    else
        set_event(row, xstrdup(again ? "the guest boots again" : "the guest boots"));
}

static void
show_stage(struct progress_row *row, enum guest_stage stage,
           const struct guest_stage_times *times)
{
    const char *name = guest_stage_name(stage);
    /* Negative if the guest's clock does not tell. */
    double seconds = -1;

    if (times->finished && times->start > 0 && times->finish > 0)
        seconds = times->finish - times->start;
    if (says_too_much(row))
        return;
    if (row->progress->style == PROGRESS_JSON)
        print_object(row, "stage",
                     json_pack("{s:s, s:s, s:o}", "stage", name, "state",
                               times->finished ? "finished" : "running", "seconds",
                               seconds >= 0 ? json_real(seconds) : json_null()));
    else if (!times->finished)
        set_event(row, xasprintf("%s runs", name));
    else if (seconds >= 0)
        set_event(row, xasprintf("%s finished, %.1f s", name, seconds));
    else
        set_event(row, xasprintf("%s finished", name));
}

/* A message is known by its text, not by its place in the report: an earlier stage can
 * get another one later, and the result has a list of its own. */
static void
show_messages(struct progress_row *row, bool error, const struct guest_messages *messages)
{
    struct progress_texts *shown = error ? &row->errors : &row->warnings;

    for (size_t i = 0; i < messages->count; i++) {
        const char *message = messages->list[i].text;
        const char *stage = guest_stage_name(messages->list[i].stage);
        cleanup_failure struct failure *failure = NULL;
        cleanup_free char *line = NULL;

        if (texts_have(shown->list, shown->count, message) || says_too_much(row))
            continue;
        texts_add(&shown->list, &shown->count, xstrdup(message));
        if (row->progress->style == PROGRESS_JSON) {
            print_object(row, error ? "error" : "warning",
                         json_pack("{s:s?, s:s}", "stage", stage, "message", message));
        } else if (error) {
            failure_set(&failure, FAILURE_DOMAIN, "domain '%s': %s%s%s", row->name,
                        stage ? stage : "", stage ? ": " : "", message);
            redraw(row->progress, NULL, failure);
        } else if (row->progress->style != PROGRESS_QUIET) {
            line = xasprintf("%s: warning: %s%s%s\n", row->name, stage ? stage : "",
                             stage ? ": " : "", message);
            redraw(row->progress, line, NULL);
        }
    }
}

void
progress_show(struct progress_row *row, const struct guest_report *report)
{
    if (report->boot[0] && strcmp(report->boot, row->boot) != 0)
        show_boot(row, report->boot);
    for (int i = 0; i < GUEST_STAGE_COUNT; i++) {
        const struct guest_stage_times *now = &report->stages[i];
        struct guest_stage_times *shown = &row->stages[i];

        if (!now->started || (shown->started && shown->finished == now->finished))
            continue;
        row->stage = (enum guest_stage)i;
        *shown = *now;
        show_stage(row, row->stage, now);
    }
    show_messages(row, false, &report->warnings);
    show_messages(row, true, &report->errors);
}

/* --- the end ---------------------------------------------------------------------- */

void
progress_finish(struct progress_row *row, const char *outcome, int status,
                const struct guest_report *report, const struct failure *failure)
{
    cleanup_free char *line = xasprintf("%s: %s\n", row->name, outcome);

    row->is_finished = true;
    if (row->progress->style == PROGRESS_JSON) {
        enum guest_stage stage =
            report ? guest_report_last_stage(report) : GUEST_STAGE_NONE;
        json_t *errors = json_array();

        for (size_t i = 0; report && i < report->errors.count; i++)
            json_add(errors, json_string(report->errors.list[i].text));
        print_object(row, "end",
                     json_pack("{s:s, s:i, s:s?, s:s?, s:o, s:s?, s:s?}", "outcome",
                               outcome, "exit-status", status, "stage",
                               guest_stage_name(stage), "datasource",
                               report ? report->datasource : NULL, "errors", errors,
                               "message", failure ? failure->message : NULL, "hint",
                               failure ? failure->hint : NULL));
    } else if (failure) {
        redraw(row->progress, NULL, failure);
    } else if (row->progress->style != PROGRESS_QUIET) {
        redraw(row->progress, line, NULL);
    }
}

void
progress_tick(struct progress *progress)
{
    redraw(progress, NULL, NULL);
}

/* --- making and clearing ---------------------------------------------------------- */

void
progress_open(struct progress *progress, bool quiet, bool json)
{
    const char *term = getenv("TERM");

    *progress = (struct progress){.style = PROGRESS_LINES, .start = clock_milliseconds()};
    if (json)
        progress->style = PROGRESS_JSON;
    else if (quiet)
        progress->style = PROGRESS_QUIET;
    else if (isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0)
        progress->style = PROGRESS_LIVE;
}

struct progress_row *
progress_add(struct progress *progress, const char *name, const char *uuid)
{
    struct progress_row *row = xcalloc(1, sizeof(*row));

    *row = (struct progress_row){
        .progress = progress,
        .name = columns_text(name),
        .uuid = xstrdup(uuid),
        .event = xstrdup("no report from the guest yet"),
        .stage = GUEST_STAGE_NONE,
    };
    *array_add(progress->rows, progress->count) = row;
    return row;
}

void
progress_close(struct progress *progress)
{
    /* Those that are waited for stay as they were last. */
    if (progress->style == PROGRESS_LIVE)
        redraw(progress, NULL, NULL);
    for (size_t i = 0; i < progress->count; i++) {
        free(progress->rows[i]->name);
        free(progress->rows[i]->uuid);
        free(progress->rows[i]->event);
        clear_texts(&progress->rows[i]->errors);
        clear_texts(&progress->rows[i]->warnings);
        free(progress->rows[i]);
    }
    free(progress->rows);
    *progress = (struct progress){0};
}
