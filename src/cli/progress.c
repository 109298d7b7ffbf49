/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from outside is made safe to print before it gets here, or here. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/progress.h"

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

/* Prints an event as a line, if lines are printed. Takes the text. */
static void
print_event(const struct progress_row *row, char *event)
{
    if (row->progress->style == PROGRESS_LINES) {
        printf("%s: %s\n", row->name, event);
        fflush(stdout);
    }
    free(event);
}

void
progress_note(struct progress_row *row, const char *event)
{
    if (row->progress->style == PROGRESS_JSON)
        print_object(row, event, json_object());
    else
        print_event(row, xstrdup(event));
}

void
progress_wait_for(struct progress_row *row, const char *what)
{
    print_event(row, xasprintf("waiting for %s", what));
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
    clear_texts(&row->errors);
    clear_texts(&row->warnings);
    if (says_too_much(row))
        return;
    if (row->progress->style == PROGRESS_JSON)
        print_object(row, "boot", json_pack("{s:s}", "boot", boot));
    else
        print_event(row, xstrdup(again ? "the guest boots again" : "the guest boots"));
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
        print_event(row, xasprintf("%s runs", name));
    else if (seconds >= 0)
        print_event(row, xasprintf("%s finished, %.1f s", name, seconds));
    else
        print_event(row, xasprintf("%s finished", name));
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

        if (texts_have(shown->list, shown->count, message) || says_too_much(row))
            continue;
        texts_add(&shown->list, &shown->count, xstrdup(message));
        if (row->progress->style == PROGRESS_JSON) {
            print_object(row, error ? "error" : "warning",
                         json_pack("{s:s?, s:s}", "stage", stage, "message", message));
        } else if (error) {
            failure_set(&failure, FAILURE_DOMAIN, "domain '%s': %s%s%s", row->name,
                        stage ? stage : "", stage ? ": " : "", message);
            print_failure(failure);
        } else {
            print_event(row, xasprintf("warning: %s%s%s", stage ? stage : "",
                                       stage ? ": " : "", message));
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
        *shown = *now;
        show_stage(row, (enum guest_stage)i, now);
    }
    show_messages(row, false, &report->warnings);
    show_messages(row, true, &report->errors);
}

/* --- the end ---------------------------------------------------------------------- */

void
progress_finish(struct progress_row *row, const char *outcome, int status,
                const struct guest_report *report, const struct failure *failure)
{
    static const char *const phrases[] = {
        [GUEST_END_NONE] = "",
        [GUEST_END_REBOOT] = ", the guest reboots",
        [GUEST_END_POWEROFF] = ", the guest shuts down",
    };
    const enum guest_end then = report ? report->then : GUEST_END_NONE;

    if (row->progress->style == PROGRESS_JSON) {
        enum guest_stage stage =
            report ? guest_report_last_stage(report) : GUEST_STAGE_NONE;
        json_t *errors = json_array();

        for (size_t i = 0; report && i < report->errors.count; i++)
            json_add(errors, json_string(report->errors.list[i].text));
        print_object(row, "end",
                     json_pack("{s:s, s:i, s:s?, s:s?, s:s?, s:o, s:s?, s:s?}", "outcome",
                               outcome, "exit-status", status, "then",
                               guest_end_word(then), "stage", guest_stage_name(stage),
                               "datasource", report ? report->datasource : NULL, "errors",
                               errors, "message", failure ? failure->message : NULL,
                               "hint", failure ? failure->hint : NULL));
    } else if (failure) {
        print_failure(failure);
    } else {
        print_event(row, xasprintf("%s%s", outcome, phrases[then]));
    }
}

/* --- making and clearing ---------------------------------------------------------- */

void
progress_open(struct progress *progress, bool quiet, bool json)
{
    *progress = (struct progress){.style = PROGRESS_LINES};
    if (json)
        progress->style = PROGRESS_JSON;
    else if (quiet)
        progress->style = PROGRESS_QUIET;
}

struct progress_row *
progress_add(struct progress *progress, const char *name, const char *uuid)
{
    struct progress_row *row = xcalloc(1, sizeof(*row));

    *row = (struct progress_row){
        .progress = progress,
        .name = xstrdup(name),
        .uuid = xstrdup(uuid),
    };
    utf8_replace_controls(row->name);
    *array_add(progress->rows, progress->count) = row;
    return row;
}

void
progress_close(struct progress *progress)
{
    for (size_t i = 0; i < progress->count; i++) {
        free(progress->rows[i]->name);
        free(progress->rows[i]->uuid);
        clear_texts(&progress->rows[i]->errors);
        clear_texts(&progress->rows[i]->warnings);
        free(progress->rows[i]);
    }
    free(progress->rows);
    *progress = (struct progress){0};
}
