/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: follow.c says what happens, progress.c shows it, and this decides when the
 * waiting for a domain is over, and how: by its guest's report, by its own end, or by the
 * time.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <libvirt/libvirt.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "cli/domain-view.h"
#include "cli/replace.h"
#include "cli/scrub.h"
#include "cli/wait-reason.h"
#include "cli/waiting.h"
#include "store/record.h"

/* A domain that is waited for. */
struct waited {
    struct waiting *waiting;
    struct followed *followed;
    struct progress_row *row;
    char passed[UUID_LENGTH + 1]; /* the boot that does not count (--next), or "" */
    bool begun;                   /* the one that counts has begun */
    bool over;
    int status;
};

static const char *
name_of(const struct waited *waited)
{
    return virDomainGetName(waited->followed->domain);
}

/* --- how it ends ------------------------------------------------------------------ */

static void
finish(struct waited *waited, const char *outcome, int status,
       const struct guest_report *report, const struct failure *failure)
{
    struct waiting *waiting = waited->waiting;
    const struct progress_end end = {
        .outcome = outcome,
        .status = status,
        .report = report,
        .failure = failure,
    };

    waited->over = true;
    waited->status = status;
    progress_finish(&waiting->progress, waited->row, &end);
    for (size_t i = 0; i < waiting->count; i++) {
        if (!waiting->list[i]->over)
            return;
    }
    follow_end(&waiting->follow);
}

/* Its seed is not needed any more: --scrub. */
static void
finish_done(struct waited *waited, const struct guest_report *report)
{
    const struct waiting *waiting = waited->waiting;
    cleanup_failure struct failure *failure = NULL;

    if (waiting->options.scrub &&
        scrub(waiting->context, waited->followed->uuid, &failure) < 0) {
        finish(waited, "error", STATUS_FAILURE, report, failure);
        return;
    }
    if (waiting->options.scrub)
        progress_note(&waited->waiting->progress, waited->row, "scrubbed");
    finish(waited, guest_state_word(report->state), STATUS_OK, report, NULL);
}

/* The boot is complete, as the guest or the record says. */
static void
finish_by_report(struct waited *waited, const struct guest_report *report)
{
    cleanup_failure struct failure *failure = NULL;

    if (report->state == GUEST_STATE_DONE) {
        finish_done(waited, report);
        return;
    }
    wait_reason_errors(&failure, name_of(waited), report);
    finish(waited, guest_state_word(report->state), STATUS_FAILURE, report, failure);
}

static void
finish_by_time(struct waited *waited)
{
    const struct guest_report *report = &waited->followed->report;
    cleanup_failure struct failure *failure = NULL;

    wait_reason_time(&failure, name_of(waited), waited->waiting->options.seconds, report);
    finish(waited, "timeout", STATUS_TIMEOUT, report, failure);
}

static void
finish_by_stop(struct waited *waited, int detail)
{
    const struct guest_report *report = &waited->followed->report;
    cleanup_failure struct failure *failure = NULL;

    wait_reason_stopped(&failure, name_of(waited), detail, report);
    finish(waited, "stopped", STATUS_STOPPED, report, failure);
}

/* What it was last is worth a word, and no error where it may not be read. */
static void
finish_unstarted(struct waited *waited)
{
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *unreadable = NULL;
    cleanup_failure struct failure *failure = NULL;

    record_read(waited->waiting->follow.root, waited->followed->uuid, &record,
                &unreadable);
    wait_reason_unstarted(&failure, name_of(waited), &record);
    finish(waited, "stopped", STATUS_STOPPED, NULL, failure);
}

/* --- how it begins ---------------------------------------------------------------- */

/*
 * A guest that was saved has its report in the record alone. A boot's own start is no
 * resumption, and as long as libvirt has not come to its end, the record is still that of the
 * boot before.
 */
static bool
was_resumed(const struct followed *followed)
{
    int state, reason;

    if (virDomainGetState(followed->domain, &state, &reason, 0) < 0)
        return false;
    if (state == VIR_DOMAIN_RUNNING)
        return reason != VIR_DOMAIN_RUNNING_BOOTED;
    return state != VIR_DOMAIN_PAUSED || reason != VIR_DOMAIN_PAUSED_STARTING_UP;
}

static void
add_errors(struct guest_report *report, const struct record_result *result)
{
    report->errors.list = xcalloc(result->error_count, sizeof(report->errors.list[0]));
    report->errors.count = result->error_count;
    for (size_t i = 0; i < result->error_count; i++)
        report->errors.list[i] = (struct guest_message){
            .stage = GUEST_STAGE_NONE,
            .text = xstrdup(result->errors[i]),
        };
}

static void
finish_by_record(struct waited *waited)
{
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *unreadable = NULL;
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    if (!was_resumed(waited->followed) ||
        record_read(waited->waiting->follow.root, waited->followed->uuid, &record,
                    &unreadable) < 0 ||
        !guest_state_is_end(record.result.state))
        return;
    report.state = record.result.state;
    report.datasource = steal(record.result.datasource);
    add_errors(&report, &record.result);
    progress_show(&waited->waiting->progress, waited->row, &report);
    finish_by_report(waited, &report);
}

/* What cannot be done in the end is said before the waiting. */
static int
check_scrub(const struct waited *waited, const struct domain_view *view,
            struct failure **failure)
{
    if (!waited->waiting->options.scrub || !view->active ||
        delivery_of_running(&view->domain)->check_replace(&view->domain, failure) == 0)
        return 0;
    return failure_prefix(failure, "domain '%s'", name_of(waited));
}

/* Says why, where no report can ever come. */
static void
check_report(struct waited *waited)
{
    cleanup_domain_view struct domain_view view = {0};
    cleanup_failure struct failure *failure = NULL;
    bool has_file = follow_has_file(waited->followed);

    if (domain_view_load(&view, waited->followed->domain, &failure) < 0 ||
        check_scrub(waited, &view, &failure) < 0)
        finish(waited, "error", STATUS_FAILURE, NULL, failure);
    else if (!view.active && !waited->waiting->options.next)
        finish_unstarted(waited);
    else if (domain_view_check_report(&view, has_file, &failure) < 0)
        finish(waited, "silent", STATUS_FAILURE, NULL, failure);
}

static void
take_report(struct waited *waited)
{
    const struct guest_report *report = &waited->followed->report;

    if (waited->over || report->state == GUEST_STATE_NOTHING ||
        strcmp(report->boot, waited->passed) == 0)
        return;
    waited->begun = true;
    progress_show(&waited->waiting->progress, waited->row, report);
    if (guest_report_is_complete(report))
        finish_by_report(waited, report);
}

static void
begin(struct waited *waited)
{
    const struct guest_report *report = &waited->followed->report;
    bool active = waited->followed->active;
    bool complete = guest_report_is_complete(report);
    bool next = waited->waiting->options.next;

    /* Where it has stopped since, what counts is that it was done. */
    if (next || !active || !complete)
        check_report(waited);
    /* The report of a domain that does not run is one that nobody has removed. */
    if (!active || (complete && next))
        strcpy(waited->passed, report->boot);
    take_report(waited);
    if (!waited->over && !next && report->state == GUEST_STATE_NOTHING)
        finish_by_record(waited);
}

/* --- what happens ----------------------------------------------------------------- */

static void
said(struct followed *followed)
{
    take_report(followed->owner);
}

static void
started(struct followed *followed, int detail)
{
    struct waited *waited = followed->owner;

    if (waited->over)
        return;
    progress_note(&waited->waiting->progress, waited->row, "started");
    waited->begun = waited->begun || detail == VIR_DOMAIN_EVENT_STARTED_BOOTED;
}

static void
begun(struct followed *followed)
{
    struct waited *waited = followed->owner;

    if (!waited->over)
        check_report(waited);
}

static void
stopped(struct followed *followed, int detail)
{
    struct waited *waited = followed->owner;

    if (waited->over)
        return;
    if (waited->waiting->options.next && !waited->begun)
        progress_note(&waited->waiting->progress, waited->row, "stopped");
    else
        finish_by_stop(waited, detail);
}

static void
failed(struct followed *followed, struct failure *reason)
{
    struct waited *waited = followed->owner;
    cleanup_failure struct failure *failure = reason;

    if (waited->over)
        return;
    failure_prefix(&failure, "domain '%s'", name_of(waited));
    finish(waited, "error", STATUS_FAILURE, &followed->report, failure);
}

static void
second(struct follow *follow)
{
    struct waiting *waiting = follow->owner;

    progress_tick(&waiting->progress);
}

static void
deadline(struct follow *follow)
{
    struct waiting *waiting = follow->owner;

    for (size_t i = 0; i < waiting->count; i++) {
        if (!waiting->list[i]->over)
            finish_by_time(waiting->list[i]);
    }
}

static const struct follow_events events = {
    .said = said,
    .started = started,
    .begun = begun,
    .stopped = stopped,
    .failed = failed,
    .second = second,
    .deadline = deadline,
};

/* --- the waiting ------------------------------------------------------------------ */

int
waiting_open(struct waiting *waiting, const struct waiting_options *options,
             const struct context *context, struct failure **failure)
{
    *waiting = (struct waiting){
        .follow = FOLLOW_NONE,
        .options = *options,
        .context = context,
    };
    waiting->follow.owner = waiting;
    progress_open(&waiting->progress, options->style);
    if (options->scrub && replace_check_caller(context, failure) < 0)
        return -1;
    return follow_open(&waiting->follow, &events, context->uri, context->root, failure);
}

int
waiting_add(struct waiting *waiting, const char *name, struct failure **failure)
{
    struct followed *followed = follow_add(&waiting->follow, name, failure);
    struct waited *waited;

    if (!followed)
        return -1;
    if (followed->owner)
        return 0;
    waited = xcalloc(1, sizeof(*waited));
    waited->waiting = waiting;
    waited->followed = followed;
    waited->row = progress_add(&waiting->progress, virDomainGetName(followed->domain),
                               followed->uuid);
    followed->owner = waited;
    waiting->list =
        xreallocarray(waiting->list, waiting->count + 1, sizeof(struct waited *));
    waiting->list[waiting->count++] = waited;
    return 0;
}

int
waiting_run(struct waiting *waiting, struct failure **failure)
{
    for (size_t i = 0; i < waiting->count; i++)
        begin(waiting->list[i]);
    if (waiting->options.milliseconds >= 0)
        follow_set_deadline(&waiting->follow, waiting->options.milliseconds);
    if (waiting->options.style == PROGRESS_LIVE)
        follow_set_clock(&waiting->follow);
    return follow_run(&waiting->follow, failure);
}

int
waiting_status(const struct waiting *waiting)
{
    static const int order[] = {STATUS_FAILURE, STATUS_STOPPED, STATUS_TIMEOUT};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        for (size_t j = 0; j < waiting->count; j++) {
            if (waiting->list[j]->status == order[i])
                return order[i];
        }
    }
    return STATUS_OK;
}

void
waiting_clear(struct waiting *waiting)
{
    progress_close(&waiting->progress);
    follow_close(&waiting->follow);
    for (size_t i = 0; i < waiting->count; i++)
        free(waiting->list[i]);
    free(waiting->list);
}
