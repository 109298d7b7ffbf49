/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: follow.c says what happens, progress.c shows it, and this decides when
 * the waiting for a domain is over: its guest has reported the end, the domain has
 * stopped, or the time is over.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/process.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/follow.h"
#include "cli/guest-signs.h"
#include "cli/libvirt.h"
#include "cli/running-seed.h"
#include "cli/waiting.h"
#include "store/delivery.h"
#include "store/record.h"
#include "wire/wire.h"

/* What libvirt's daemon is asked when the time is over may take so long. */
#define GRACE_SECONDS 10

static const char *
name_of(const struct waited *waited)
{
    return virDomainGetName(waited->domain);
}

/* Return: where the output of the commands in user-data and cloud-init's own errors
 * are. */
static const char *
logs_of(const struct waited *waited)
{
    const char *logs = waited->waiting->options->logs;

    return logs ? logs
                : "in the guest, see /var/log/cloud-init-output.log and "
                  "/var/log/cloud-init.log";
}

/* --- how it ends ------------------------------------------------------------------ */

static void
finish(struct waited *waited, const char *outcome, int status,
       const struct guest_report *report, const struct failure *failure)
{
    struct waiting *waiting = waited->waiting;

    waited->over = true;
    waited->status = status;
    progress_finish(waited->row, outcome, status, report, failure);
    for (size_t i = 0; i < waiting->count; i++) {
        if (!waiting->list[i]->over)
            return;
    }
    waiting->over = true;
}

void
waiting_finish(struct waited *waited, const char *outcome, int status,
               const struct failure *failure)
{
    if (!waited->over)
        finish(waited, outcome, status, NULL, failure);
}

/* The boot is complete, as the guest or the record says. With --scrub, the seed is not
 * needed any more if all went well. */
static void
finish_by_report(struct waited *waited, const struct guest_report *report)
{
    const struct waiting *waiting = waited->waiting;
    const char *outcome = guest_state_word(report->state);
    const struct guest_claim *claim = &report->claim;
    size_t errors = report->errors.count + report->errors.left_out;
    cleanup_failure struct failure *failure = NULL;

    if (report->state != GUEST_STATE_DONE) {
        failure_set(&failure, FAILURE_DOMAIN,
                    "domain '%s': cloud-init has finished with %zu %s%s%s%s%s\n%s",
                    name_of(waited), errors, errors == 1 ? "error" : "errors",
                    claim->failed_module ? "; the last module that failed is " : "",
                    claim->failed_module ? claim->failed_module : "",
                    claim->failed_log ? ": " : "",
                    claim->failed_log ? claim->failed_log : "", logs_of(waited));
    } else if (waiting->options->scrub) {
        if (running_seed_scrub(waiting->context, waited->uuid, &failure) < 0)
            outcome = "error";
        else
            progress_note(waited->row, "scrubbed");
    }
    finish(waited, outcome, failure ? STATUS_FAILURE : STATUS_OK, report, failure);
}

/* Return: how far the guest was, owned by the caller (free). */
static char *
describe_stage(const struct guest_report *report)
{
    const char *stage = guest_stage_name(guest_report_last_stage(report));

    if (report->state == GUEST_STATE_NOTHING)
        return xstrdup("the guest has not reported");
    if (!stage)
        return xstrdup("no stage of cloud-init had started");
    return xasprintf("the last stage was %s", stage);
}

/* The time is over, and the boot that counts has not begun. */
static void
finish_unbegun(struct waited *waited)
{
    const char *name = name_of(waited);
    cleanup_failure struct failure *failure = NULL;

    failure_set(&failure, FAILURE_DOMAIN, "domain '%s': not done after %s s; %s", name,
                waited->waiting->options->timeout,
                waited->has_run ? "its guest has not booted again"
                                : "it has not been started");
    if (waited->starts)
        failure_hint(&failure,
                     "libvirt is still starting it: see /var/log/libvirt/qemu/%s.log",
                     name);
    else
        failure_hint(&failure, "--next ignores the last boot and waits for a new one");
    finish(waited, "timeout", STATUS_TIMEOUT, NULL, failure);
}

static void
finish_by_time(struct waited *waited)
{
    const struct guest_report *report = &waited->report;
    bool was_heard = report->state != GUEST_STATE_NOTHING;
    cleanup_free char *stage = describe_stage(report);
    cleanup_failure struct failure *failure = NULL;
    struct guest_signs signs;

    guest_signs_read(&signs, waited->domain, waited->waiting->context->root, was_heard);
    failure_set(&failure, FAILURE_DOMAIN, "domain '%s': not done after %s s; %s%s%s",
                name_of(waited), waited->waiting->options->timeout, stage,
                signs.reason ? "; " : "", signs.reason ? signs.reason : "");
    free(signs.reason);
    if (signs.hint)
        failure_hint(&failure, "%s", signs.hint);
    else if (was_heard)
        failure_hint(&failure, "%s", logs_of(waited));
    else
        failure_hint(&failure, "a guest never reports if its image has no cloud-init, or "
                               "does not read vendor-data");
    finish(waited, "timeout", STATUS_TIMEOUT, report, failure);
}

/* `detail` is libvirt's virDomainEventStoppedDetailType. */
static void
finish_by_stop(struct waited *waited, int detail)
{
    static const char *const words[] = {
        [VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN] = "was shut down",
        [VIR_DOMAIN_EVENT_STOPPED_DESTROYED] = "was destroyed",
        [VIR_DOMAIN_EVENT_STOPPED_CRASHED] = "has crashed",
        [VIR_DOMAIN_EVENT_STOPPED_MIGRATED] = "was migrated to another host",
        [VIR_DOMAIN_EVENT_STOPPED_SAVED] = "was saved",
        [VIR_DOMAIN_EVENT_STOPPED_FAILED] = "has failed on the host",
        [VIR_DOMAIN_EVENT_STOPPED_FROM_SNAPSHOT] = "was reverted to a snapshot",
    };
    const int count = (int)(ARRAY_SIZE(words));
    const char *what =
        detail >= 0 && detail < count && words[detail] ? words[detail] : "has stopped";
    const struct guest_report *report = &waited->report;
    cleanup_free char *stage = describe_stage(report);
    cleanup_failure struct failure *failure = NULL;

    failure_set(&failure, FAILURE_DOMAIN,
                "domain '%s' %s before cloud-init had finished; %s", name_of(waited),
                what, stage);
    if (detail == VIR_DOMAIN_EVENT_STOPPED_MIGRATED)
        failure_hint(&failure, "wait on that host");
    else if (detail == VIR_DOMAIN_EVENT_STOPPED_SAVED)
        failure_hint(&failure, "start it and wait again: the guest then continues");
    else if (detail == VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN &&
             report->state == GUEST_STATE_NOTHING)
        failure_hint(&failure,
                     "it shut down before cloud-init started, or has none: see its "
                     "console and /var/log/libvirt/qemu/%s.log",
                     name_of(waited));
    else
        failure_hint(&failure,
                     "see the last messages of the guest and of QEMU: its console and "
                     "/var/log/libvirt/qemu/%s.log",
                     name_of(waited));
    finish(waited, "stopped", STATUS_STOPPED, report, failure);
}

/* Says how its last boot ended, if that may be read. */
static void
finish_unstarted(struct waited *waited)
{
    cleanup_record struct record record = {0};
    const struct record_result *result = &record.result;
    cleanup_failure struct failure *unreadable = NULL;
    cleanup_failure struct failure *failure = NULL;
    cleanup_free char *last = NULL;

    record_read(waited->waiting->context->root, waited->uuid, &record, &unreadable);
    if (!record.boot.time)
        last = xstrdup("");
    else if (!guest_state_is_end(result->state))
        last = xasprintf("; its last boot, of %s, did not finish", record.boot.time);
    else
        last = xasprintf("; its last boot, of %s, %s%s%s", record.boot.time,
                         result->state == GUEST_STATE_DONE ? "was done"
                                                           : "finished with errors",
                         result->time ? " at " : "", result->time ? result->time : "");
    failure_set(&failure, FAILURE_DOMAIN,
                "domain '%s' is not running%s\n"
                "start it; 'virt-seed wait --next' also waits for a start",
                name_of(waited), last);
    finish(waited, "stopped", STATUS_STOPPED, NULL, failure);
}

/* --- how it begins ---------------------------------------------------------------- */

/*
 * For a guest that was saved, only the record has its report. A domain that was booted
 * was not resumed, and until libvirt has finished the start, the record is that of the
 * boot before.
 */
static void
finish_by_record(struct waited *waited)
{
    cleanup_record struct record record = {0};
    const struct record_result *result = &record.result;
    cleanup_failure struct failure *unreadable = NULL;
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    int state, reason;

    if (virDomainGetState(waited->domain, &state, &reason, 0) < 0 ||
        (state == VIR_DOMAIN_RUNNING && reason == VIR_DOMAIN_RUNNING_BOOTED) ||
        (state == VIR_DOMAIN_PAUSED && reason == VIR_DOMAIN_PAUSED_STARTING_UP) ||
        record_read(waited->waiting->context->root, waited->uuid, &record, &unreadable) <
            0 ||
        !guest_state_is_end(result->state))
        return;
    report.state = result->state;
    report.datasource = steal(record.result.datasource);
    report.claim = record.result.claim;
    record.result.claim = (struct guest_claim){0};
    report.errors.list = xcalloc(result->error_count, sizeof(report.errors.list[0]));
    report.errors.count = result->error_count;
    for (size_t i = 0; i < result->error_count; i++)
        report.errors.list[i] = (struct guest_message){
            .stage = GUEST_STAGE_NONE,
            .text = xstrdup(result->errors[i]),
        };
    progress_show(waited->row, &report);
    finish_by_report(waited, &report);
}

/*
 * Checks that the domain can report; `has_file` says whether there is a file for that.
 * Return: 0, or -1 with the reason why there will never be a report.
 */
static int
require_report(const struct domain_view *view, bool has_file, struct failure **failure)
{
    cleanup_wire_facts struct wire_facts facts = {0};
    const char *reason, *hint;
    bool wired;

    wire_facts_read(&facts, &view->domain);
    wired = facts.uses_shim || facts.reports;
    if (wired && has_file)
        return 0;
    if (view->refused && view->refused->code == FAILURE_REQUEST_MISSING) {
        reason = "it asks for no seed";
        hint = "give it a request with 'virt-seed set', and start it again";
    } else if (view->refused) {
        reason = view->refused->message;
        hint = view->refused->hint;
    } else if (!view->request.report) {
        reason = "its <cloud-init> says report=\"no\"";
        hint = "remove that with 'virt-seed edit DOMAIN element', and start it again";
    } else if (!request_wants_report(&view->request)) {
        reason = "there is no reporter for Windows or oVirt's payload";
        hint = "look in the guest itself";
    } else if (!wired) {
        reason = "it has no report channel";
        hint = "add it with 'virt-seed wire DOMAIN', and start the domain again";
    } else if (!view->active) {
        return 0;
    } else {
        reason = "its report is missing: the hook did not run when the domain started";
        hint = "start it again with virt-seed's hook installed";
    }
    failure_set(failure, FAILURE_DOMAIN, "domain '%s' will never report: %s",
                view->domain.name, reason);
    return hint ? failure_hint(failure, "%s", hint) : -1;
}

/* Ends the waiting at once if no report can ever come. */
static void
check_report(struct waited *waited)
{
    cleanup_domain_view struct domain_view view = {0};
    cleanup_failure struct failure *failure = NULL;
    const struct waiting_options *options = waited->waiting->options;
    bool has_file = waited->reader.file >= 0;
    int result = domain_view_load(&view, waited->domain, &failure);

    /* If --scrub cannot work in the end, say so before the waiting. */
    if (result == 0 && options->scrub && view.active) {
        result = delivery_of_running(&view.domain)->check_replace(&view.domain, &failure);
        if (result < 0)
            failure_prefix(&failure, "domain '%s'", name_of(waited));
    }
    if (result < 0)
        finish(waited, "error", STATUS_FAILURE, NULL, failure);
    else if (!view.active && !waited->next)
        finish_unstarted(waited);
    else if (require_report(&view, has_file, &failure) < 0)
        finish(waited, "silent", STATUS_FAILURE, NULL, failure);
}

void
waiting_on_report(struct waited *waited)
{
    const struct guest_report *report = &waited->report;

    if (waited->over || report->state == GUEST_STATE_NOTHING ||
        strcmp(report->boot, waited->passed) == 0)
        return;
    waited->begun = true;
    progress_show(waited->row, report);
    if (guest_state_is_end(report->state))
        finish_by_report(waited, report);
    /* Nobody reads our output any more; main() reports that. */
    if (ferror(stdout))
        waited->waiting->over = true;
}

void
waiting_begin(struct waited *waited)
{
    const struct guest_report *report = &waited->report;
    bool active = waited->has_run;
    bool complete = guest_state_is_end(report->state);
    bool next = waited->next;

    /* A guest that was done before the domain stopped is done. */
    if (next || !active || !complete)
        check_report(waited);
    /* The report of a domain that does not run is a leftover. */
    if (!active || (complete && next))
        snprintf(waited->passed, sizeof(waited->passed), "%s", report->boot);
    waiting_on_report(waited);
    if (!waited->over && !next && report->state == GUEST_STATE_NOTHING)
        finish_by_record(waited);
    if (waited->over || waited->begun)
        return;
    if (!next)
        progress_wait_for(waited->row, "the guest's first report");
    else
        progress_wait_for(waited->row, active ? "the next boot" : "the domain to start");
}

void
waiting_begin_start(struct waited *waited)
{
    waited->next = true;
    waited->starts = true;
    snprintf(waited->passed, sizeof(waited->passed), "%s", waited->report.boot);
}

/* --- what happens ----------------------------------------------------------------- */

void
waiting_on_start(struct waited *waited, int detail)
{
    if (waited->over || waited->waiting->options->no_wait)
        return;
    progress_note(waited->row, "started");
    waited->begun = waited->begun || detail == VIR_DOMAIN_EVENT_STARTED_BOOTED;
    /* A guest that was saved continues, and what it said before counts. */
    if (waited->starts && detail != VIR_DOMAIN_EVENT_STARTED_BOOTED)
        waited->next = false;
}

void
waiting_on_run(struct waited *waited)
{
    if (waited->over || waited->waiting->options->no_wait)
        return;
    waited->has_run = true;
    if (waited->starts && !waited->next)
        waiting_begin(waited);
    else
        check_report(waited);
}

void
waiting_on_stop(struct waited *waited, int detail)
{
    if (waited->over)
        return;
    if (waited->next && !waited->begun)
        progress_note(waited->row, "stopped");
    else
        finish_by_stop(waited, detail);
}

void
waiting_on_failure(struct waited *waited, struct failure **reason)
{
    if (waited->over)
        return;
    failure_prefix(reason, "domain '%s'", name_of(waited));
    finish(waited, "error", STATUS_FAILURE, &waited->report, *reason);
}

/* --- opening, running, closing ----------------------------------------------------- */

/* `milliseconds` becomes -1 if there is no timeout. */
static int
read_timeout(const char *text, int *milliseconds, struct failure **failure)
{
    char *end = NULL;
    unsigned long seconds;

    *milliseconds = -1;
    if (!text)
        return 0;
    errno = 0;
    seconds = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || seconds > LIMIT_TIMEOUT)
        return failure_set(failure, FAILURE_USAGE,
                           "--timeout='%s' is not a number of seconds\ngive 0 to %d",
                           text, LIMIT_TIMEOUT);
    *milliseconds = (int)seconds * 1000;
    return 0;
}

int
waiting_open(struct waiting *waiting, const struct context *context,
             const struct waiting_options *options, struct failure **failure)
{
    static const volatile sig_atomic_t status = STATUS_TIMEOUT;

    *waiting = (struct waiting){
        .options = options,
        .context = context,
        .notifier = -1,
        .notifier_handle = -1,
        .signals = -1,
        .signals_handle = -1,
    };
    progress_open(&waiting->progress, context->quiet, context->json);
    if (read_timeout(options->timeout, &waiting->milliseconds, failure) < 0 ||
        (options->scrub && running_seed_check_caller(context, failure) < 0))
        return -1;
    if (waiting->milliseconds >= 0)
        process_limit_time(
            (unsigned int)waiting->milliseconds / 1000 + GRACE_SECONDS,
            "virt-seed: error: timed out, and libvirt's daemon does not respond\n"
            "virt-seed: hint: see whether it answers others: virsh list\n",
            &status);
    return follow_open(waiting, failure);
}

struct waited *
waiting_add(struct waiting *waiting, const char *name, struct failure **failure)
{
    virDomainPtr domain = libvirt_find_domain(waiting->connection, name, failure);
    struct waited *waited;

    if (!domain)
        return NULL;
    waited = xcalloc(1, sizeof(*waited));
    waited->waiting = waiting;
    waited->domain = domain;
    waited->next = waiting->options->next;
    virDomainGetUUIDString(domain, waited->uuid);
    /* A domain that is named twice is waited for once. */
    for (size_t i = 0; i < waiting->count; i++) {
        if (strcmp(waiting->list[i]->uuid, waited->uuid) == 0) {
            virDomainFree(domain);
            free(waited);
            return waiting->list[i];
        }
    }
    waited->row =
        progress_add(&waiting->progress, virDomainGetName(domain), waited->uuid);
    *array_add(waiting->list, waiting->count) = waited;
    return follow_add(waited, failure) < 0 ? NULL : waited;
}

static void
handle_second(int timer, void *data)
{
    struct waiting *waiting = data;

    (void)timer;
    progress_tick(&waiting->progress);
}

static void
handle_deadline(int timer, void *data)
{
    struct waiting *waiting = data;

    virEventUpdateTimeout(timer, -1);
    for (size_t i = 0; i < waiting->count; i++) {
        struct waited *waited = waiting->list[i];

        if (waited->over)
            continue;
        if (waited->next && !waited->begun && (waited->passed[0] || !waited->has_run))
            finish_unbegun(waited);
        else
            finish_by_time(waited);
    }
}

int
waiting_run(struct waiting *waiting, struct failure **failure)
{
    const bool is_live = waiting->progress.style == PROGRESS_LIVE;
    int clock = virEventAddTimeout(is_live ? 1000 : -1, handle_second, waiting, NULL);
    int deadline =
        virEventAddTimeout(waiting->milliseconds, handle_deadline, waiting, NULL);
    int result = follow_run(waiting, failure);

    virEventRemoveTimeout(clock);
    virEventRemoveTimeout(deadline);
    return result;
}

int
waiting_close(struct waiting *waiting, const struct failure *failure)
{
    /* The most important status of several domains is the last of these. */
    static const int order[] = {STATUS_TIMEOUT, STATUS_STOPPED, STATUS_FAILURE};
    int status = STATUS_OK;

    if (failure)
        status = failure->code == FAILURE_DOMAIN_MISSING    ? STATUS_NO_DOMAIN
                 : failure->code == FAILURE_LIBVIRT_MISSING ? STATUS_NO_LIBVIRT
                                                            : STATUS_FAILURE;
    for (size_t i = 0; !failure && i < ARRAY_SIZE(order); i++) {
        for (size_t j = 0; j < waiting->count; j++)
            status = waiting->list[j]->status == order[i] ? order[i] : status;
    }
    progress_close(&waiting->progress);
    follow_close(waiting);
    for (size_t i = 0; i < waiting->count; i++) {
        virDomainFree(waiting->list[i]->domain);
        free(waiting->list[i]);
    }
    free(waiting->list);
    /* Raise the signal again, so that our parent sees it. */
    if (waiting->signal != 0)
        raise(waiting->signal);
    return status;
}
