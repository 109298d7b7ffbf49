/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from outside is made safe to print before it gets here, or here. */
#include "config.h"

#include "base/json.h"
#include "cli/io.h"
#include "cli/progress.h"

/* --- events ----------------------------------------------------------------------- */

/* Prints an event of the domain's, as an object with these members, which it takes, or as a
 * line. */
static void
print_event(const struct progress *progress, const char *event, json_t *members,
            const char *line)
{
    cleanup_json json_t *taken = members;
    cleanup_json json_t *object = NULL;
    cleanup_free char *text = NULL;

    if (progress->style == PROGRESS_JSON) {
        object = json_with_version(json_pack("{s:s, s:s, s:s}", "domain", progress->name,
                                             "uuid", progress->uuid, "event", event));
        json_must(json_object_update(object, taken));
        text = xchecked(json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII));
        puts(text);
    } else if (progress->style == PROGRESS_LINES) {
        printf("%s: %s\n", progress->name, line);
    }
    fflush(stdout);
}

void
progress_note(struct progress *progress, const char *event)
{
    print_event(progress, event, json_object(), event);
}

void
progress_wait_for(struct progress *progress, const char *what)
{
    cleanup_free char *line = xasprintf("waiting for %s", what);

    if (progress->style != PROGRESS_JSON)
        print_event(progress, "wait", NULL, line);
}

/* A guest can go on forever, and our output may be kept. */
static bool
says_too_much(struct progress *progress)
{
    if (progress->events > LIMIT_EVENTS)
        return true;
    if (++progress->events <= LIMIT_EVENTS)
        return false;
    progress_note(progress, "silenced");
    return true;
}

static void
clear_texts(struct progress_texts *texts)
{
    texts_free(texts->list, texts->count);
    *texts = (struct progress_texts){0};
}

static void
show_boot(struct progress *progress, const char *boot)
{
    bool again = progress->boot[0];

    snprintf(progress->boot, sizeof(progress->boot), "%s", boot);
    memset(progress->stages, 0, sizeof(progress->stages));
    clear_texts(&progress->errors);
    clear_texts(&progress->warnings);
    if (says_too_much(progress))
        return;
    print_event(progress, "boot", json_pack("{s:s}", "boot", boot),
                again ? "the guest boots again" : "the guest boots");
}

static void
show_stage(struct progress *progress, enum guest_stage stage,
           const struct guest_stage_times *times)
{
    const char *name = guest_stage_name(stage);
    /* Negative if the guest's clock does not tell. */
    double seconds = -1;
    cleanup_free char *line = NULL;

    if (times->finished && times->start > 0 && times->finish > 0)
        seconds = times->finish - times->start;
    if (says_too_much(progress))
        return;
    if (!times->finished)
        line = xasprintf("%s runs", name);
    else if (seconds >= 0)
        line = xasprintf("%s finished, %.1f s", name, seconds);
    else
        line = xasprintf("%s finished", name);
    print_event(progress, "stage",
                json_pack("{s:s, s:s, s:o}", "stage", name, "state",
                          times->finished ? "finished" : "running", "seconds",
                          seconds >= 0 ? json_real(seconds) : json_null()),
                line);
}

/* A message is known by its text, not by its place in the report: an earlier stage can
 * get another one later, and the result has a list of its own. */
static void
show_messages(struct progress *progress, bool error,
              const struct guest_messages *messages)
{
    struct progress_texts *shown = error ? &progress->errors : &progress->warnings;

    for (size_t i = 0; i < messages->count; i++) {
        const char *message = messages->list[i].text;
        const char *stage = guest_stage_name(messages->list[i].stage);
        cleanup_failure struct failure *failure = NULL;
        cleanup_free char *where =
            xasprintf("%s%s", stage ? stage : "", stage ? ": " : "");
        cleanup_free char *line = xasprintf("warning: %s%s", where, message);

        if (texts_have(shown->list, shown->count, message) || says_too_much(progress))
            continue;
        texts_add(&shown->list, &shown->count, xstrdup(message));
        if (error && progress->style != PROGRESS_JSON) {
            failure_set(&failure, FAILURE_DOMAIN, "domain '%s': %s%s", progress->name,
                        where, message);
            print_failure(failure);
            continue;
        }
        print_event(progress, error ? "error" : "warning",
                    json_pack("{s:s?, s:s}", "stage", stage, "message", message), line);
    }
}

void
progress_show(struct progress *progress, const struct guest_report *report)
{
    if (report->boot[0] && strcmp(report->boot, progress->boot) != 0)
        show_boot(progress, report->boot);
    for (int i = 0; i < GUEST_STAGE_COUNT; i++) {
        const struct guest_stage_times *now = &report->stages[i];
        struct guest_stage_times *shown = &progress->stages[i];

        if (!now->started || (shown->started && shown->finished == now->finished))
            continue;
        *shown = *now;
        show_stage(progress, (enum guest_stage)i, now);
    }
    show_messages(progress, false, &report->warnings);
    show_messages(progress, true, &report->errors);
}

/* --- the end ---------------------------------------------------------------------- */

void
progress_finish(struct progress *progress, const char *outcome, int status,
                const struct guest_report *report, const struct failure *failure)
{
    const char *then = report ? report->then : NULL;
    const enum guest_stage stage =
        report ? guest_report_last_stage(report) : GUEST_STAGE_NONE;
    const char *phrase = "";
    cleanup_free char *line = NULL;
    json_t *errors;

    if (failure && progress->style != PROGRESS_JSON) {
        print_failure(failure);
        return;
    }
    if (then && strcmp(then, "reboot") == 0)
        phrase = ", the guest reboots";
    else if (then)
        phrase = ", the guest shuts down";
    line = xasprintf("%s%s", outcome, phrase);
    errors = json_array();
    for (size_t i = 0; report && i < report->errors.count; i++)
        json_add(errors, json_string(report->errors.list[i].text));
    print_event(progress, "end",
                json_pack("{s:s, s:i, s:s?, s:s?, s:s?, s:o, s:s?, s:s?}", "outcome",
                          outcome, "exit-status", status, "then", then, "stage",
                          guest_stage_name(stage), "datasource",
                          report ? report->datasource : NULL, "errors", errors, "message",
                          failure ? failure->message : NULL, "hint",
                          failure ? failure->hint : NULL),
                line);
}

/* --- making and clearing ---------------------------------------------------------- */

void
progress_open(struct progress *progress, enum progress_style style, const char *name,
              const char *uuid)
{
    *progress = (struct progress){.style = style, .name = xstrdup(name), .uuid = uuid};
    utf8_replace_controls(progress->name);
}

void
progress_close(struct progress *progress)
{
    free(progress->name);
    clear_texts(&progress->errors);
    clear_texts(&progress->warnings);
}
