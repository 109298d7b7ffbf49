/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: follow.c says what happens, progress.c shows it, and this decides when
 * the waiting for a domain is over: its guest has reported the end, the domain has
 * stopped, or the time is over.
 */
#include "config.h"

#include "base/process.h"
#include "cli/definition.h"
#include "cli/libvirt.h"
#include "cli/running-seed.h"
#include "cli/waiting.h"
#include "store/delivery.h"
#include "store/record.h"
#include "wire/wire.h"

/* What libvirt's daemon is asked when the time is over may take so long. */
#define GRACE_SECONDS 10

/* Where the output of the commands in user-data and cloud-init's own errors are. */
#define SEE_LOGS "see /var/log/cloud-init-output.log and cloud-init.log in the guest"

static const char *
name_of(const struct guest *guest)
{
    return virDomainGetName(guest->domain);
}

/* Return: where its logs are once cloud-init has failed, owned by the caller (free). */
static char *
describe_logs(const struct guest *guest)
{
    cleanup_free char *name = xshellquote(name_of(guest));

    if (guest->waiting->options->logs)
        return xstrdup(guest->waiting->options->logs);
    return xasprintf("see why: virt-seed logs %s; for all of it, " SEE_LOGS, name);
}

/* --- how it ends ------------------------------------------------------------------ */

void
waiting_finish(struct guest *guest, const char *outcome, int status,
               const struct guest_report *report, const struct failure *failure)
{
    struct waiting *waiting = guest->waiting;

    if (guest->is_finished)
        return;
    guest->is_finished = true;
    guest->status = status;
    progress_finish(&guest->progress, outcome, status, report, failure);
    for (size_t i = 0; i < waiting->count; i++) {
        if (!waiting->guests[i]->is_finished)
            return;
    }
    waiting->is_finished = true;
}

/* The boot is complete, as the guest or the record says. With --scrub, the seed is not
 * needed any more if all went well. */
static void
finish_by_report(struct guest *guest, const struct guest_report *report)
{
    const struct waiting *waiting = guest->waiting;
    const char *outcome = guest_state_word(report->state);
    const struct guest_claim *claim = &report->claim;
    size_t errors = report->errors.count + report->errors.left_out;
    cleanup_free char *logs = describe_logs(guest);
    cleanup_failure struct failure *failure = NULL;

    if (claim->dropped_count > 0) {
        failure_set(&failure, FAILURE_DOMAIN,
                    "domain '%s': cloud-init has not applied the seed as a whole: %s\n%s",
                    name_of(guest), claim->dropped[0], logs);
    } else if (report->state != GUEST_STATE_DONE) {
        failure_set(&failure, FAILURE_DOMAIN,
                    "domain '%s': cloud-init has finished with %zu %s%s%s%s%s\n%s",
                    name_of(guest), errors, errors == 1 ? "error" : "errors",
                    claim->failed_module ? "; the last module that failed is " : "",
                    claim->failed_module ? claim->failed_module : "",
                    claim->failed_log ? ": " : "",
                    claim->failed_log ? claim->failed_log : "", logs);
    } else if (waiting->options->scrub) {
        if (running_seed_scrub(waiting->context, guest->uuid, &failure) < 0)
            outcome = "error";
        else
            progress_note(&guest->progress, "scrubbed");
    }
    waiting_finish(guest, outcome, failure ? STATUS_FAILURE : STATUS_OK, report, failure);
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

/* The time is over. What a guest was in a snapshot may not be known, and no report may ever
 * come. */
static void
finish_by_time(struct guest *guest)
{
    const char *name = name_of(guest);
    const struct guest_report *report = &guest->report;
    const char *logs = guest->waiting->options->logs;
    cleanup_free char *stage = describe_stage(report);
    cleanup_free char *starting =
        xasprintf("libvirt is still starting it: see /var/log/libvirt/qemu/%s.log", name);
    cleanup_failure struct failure *failure = NULL;
    const char *reason = stage;
    const char *hint =
        "see on its console whether it has booted; if it has, its image has no cloud-init, "
        "or does not read vendor-data";
    bool awaits_boot = guest->next && !guest->begun;

    if (awaits_boot && (guest->passed[0] || !guest->has_run)) {
        report = NULL;
        reason = "it has not been started";
        if (guest->has_run)
            reason = "its guest has not booted again";
        hint = "--next ignores the last boot and waits for a new one";
        if (guest->starts)
            hint = starting;
    } else if (libvirt_snapshot_time(guest->domain) != 0) {
        reason =
            "it was reverted to a snapshot, and no result is recorded of the boot that "
            "this was taken of";
        hint =
            "a guest that was done then does not report again before its next boot: see "
            "its console, or reboot it";
    } else if (report->state != GUEST_STATE_NOTHING) {
        hint = logs ? logs : SEE_LOGS;
    }
    failure_set(&failure, FAILURE_DOMAIN, "domain '%s': not done after %s s; %s\n%s",
                name, guest->waiting->options->timeout, reason, hint);
    waiting_finish(guest, "timeout", STATUS_TIMEOUT, report, failure);
}

/* `detail` is libvirt's virDomainEventStoppedDetailType. */
static void
finish_by_stop(struct guest *guest, int detail)
{
    static const struct {
        const char *what, *hint;
    } ends[] = {
        [VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN] = {"was shut down", NULL},
        [VIR_DOMAIN_EVENT_STOPPED_DESTROYED] = {"was destroyed", NULL},
        [VIR_DOMAIN_EVENT_STOPPED_CRASHED] = {"has crashed", NULL},
        [VIR_DOMAIN_EVENT_STOPPED_MIGRATED] = {"was migrated to another host",
                                               "wait on that host"},
        [VIR_DOMAIN_EVENT_STOPPED_SAVED] =
            {"was saved", "start it and wait again: the guest then continues"},
        [VIR_DOMAIN_EVENT_STOPPED_FAILED] = {"has failed on the host", NULL},
        [VIR_DOMAIN_EVENT_STOPPED_FROM_SNAPSHOT] = {"was reverted to a snapshot", NULL},
    };
    const bool is_known = detail >= 0 && detail < (int)ARRAY_SIZE(ends);
    const char *what = is_known && ends[detail].what ? ends[detail].what : "has stopped";
    const char *reason = "see the last messages of the guest and of QEMU: its";
    const struct guest_report *report = &guest->report;
    cleanup_free char *stage = describe_stage(report);
    cleanup_failure struct failure *failure = NULL;

    if (detail == VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN &&
        report->state == GUEST_STATE_NOTHING)
        reason = "it shut down before cloud-init started, or has none: see its";
    failure_set(&failure, FAILURE_DOMAIN,
                "domain '%s' %s before cloud-init had finished; %s", name_of(guest), what,
                stage);
    if (is_known && ends[detail].hint)
        failure_hint(&failure, "%s", ends[detail].hint);
    failure_hint(&failure, "%s console and /var/log/libvirt/qemu/%s.log", reason,
                 name_of(guest));
    waiting_finish(guest, "stopped", STATUS_STOPPED, report, failure);
}

/* --- how it begins ---------------------------------------------------------------- */

/* Return: whether the guest may have been saved and resumed. Until libvirt has finished a
 * start, the record is that of the boot before. */
static bool
may_be_resumed(virDomainPtr domain)
{
    int state, reason;

    if (virDomainGetState(domain, &state, &reason, 0) < 0)
        return false;
    if (state == VIR_DOMAIN_RUNNING)
        return reason != VIR_DOMAIN_RUNNING_BOOTED;
    return state != VIR_DOMAIN_PAUSED || reason != VIR_DOMAIN_PAUSED_STARTING_UP;
}

/* For a guest that was saved, or is in a snapshot, only the record has its report. `taken`
 * is that of libvirt_snapshot_time(). */
static void
finish_by_record(struct guest *guest, time_t taken)
{
    const int root = guest->waiting->context->root;
    cleanup_record struct record record = {0};
    struct record_result *result = &record.result;
    cleanup_failure struct failure *unreadable = NULL;
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    if (!may_be_resumed(guest->domain))
        return;
    if (record_read(root, guest->uuid, &record, &unreadable) < 0)
        return;
    if (taken != 0 && !guest_state_is_end(result->state))
        result = record_result_at(&record, taken);
    if (!result || !guest_state_is_end(result->state))
        return;
    report.state = result->state;
    report.datasource = steal(result->datasource);
    report.claim = result->claim;
    result->claim = (struct guest_claim){0};
    report.errors.list = xcalloc(result->error_count, sizeof(report.errors.list[0]));
    report.errors.count = result->error_count;
    for (size_t i = 0; i < result->error_count; i++)
        report.errors.list[i] = (struct guest_message){
            .stage = GUEST_STAGE_NONE,
            .text = xstrdup(result->errors[i]),
        };
    progress_show(&guest->progress, &report);
    finish_by_report(guest, &report);
}

/*
 * Checks that the domain can report; `has_file` says whether there is a file for that.
 * Return: 0, or -1 with the reason why there will never be a report.
 */
static int
require_report(const struct domain *domain, bool is_active, bool has_file,
               struct failure **failure)
{
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_request struct request request = {0};
    cleanup_failure struct failure *refused = NULL;
    const char *reason, *hint;
    bool wired;

    request_read(&request, domain, &refused);
    wire_facts_read(&facts, domain);
    wired = facts.uses_shim || facts.reports;
    if (wired && has_file)
        return 0;
    if (refused && refused->code == FAILURE_REQUEST_MISSING) {
        reason = "it asks for no seed";
        hint = "give it a request with 'virt-seed set', and start it again";
    } else if (refused) {
        reason = refused->message;
        hint = refused->hint;
    } else if (!request.report) {
        reason = "its <cloud-init> says report=\"no\"";
        hint = "remove that with 'virt-seed edit DOMAIN element', and start it again";
    } else if (request.raw) {
        reason = "its <user-data format=\"raw\"> is for a guest without cloud-init";
        hint = "look in the guest itself";
    } else if (!request_wants_report(&request)) {
        reason = "there is no reporter for Windows or oVirt's payload";
        hint = "look in the guest itself";
    } else if (!wired) {
        reason = "it has no report channel";
        hint = "add it with 'virt-seed wire DOMAIN', and start the domain again";
    } else if (!is_active) {
        return 0;
    } else {
        reason = "its report is missing: the hook did not run when the domain started";
        hint = "start it again with virt-seed's hook installed";
    }
    failure_set(failure, FAILURE_DOMAIN, "domain '%s' will never report: %s",
                domain->name, reason);
    return hint ? failure_hint(failure, "%s", hint) : -1;
}

/* Return: why cloud-init failed in the guest's last boot, as the record says, for a message;
 * owned by the caller (free); "" if it did not, or that is not known. */
static char *
describe_last_failure(const struct guest *guest)
{
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *unreadable = NULL;
    const struct record_result *result = &record.result;
    const struct guest_claim *claim = &result->claim;
    const char *error = "its errors are not recorded";

    if (record_read(guest->waiting->context->root, guest->uuid, &record, &unreadable) <
            0 ||
        result->state != GUEST_STATE_FAILED)
        return xstrdup("");
    if (claim->failed_log)
        error = claim->failed_log;
    else if (result->error_count > 0)
        error = result->errors[0];
    return xasprintf("; cloud-init failed in its last boot: %s%s%s",
                     claim->failed_module ? claim->failed_module : "",
                     claim->failed_module ? ": " : "", error);
}

/* Ends the waiting at once if no report can ever come. */
static void
check_report(struct guest *guest)
{
    cleanup_definition struct definition running = {0};
    cleanup_failure struct failure *failure = NULL;
    const struct waiting_options *options = guest->waiting->options;
    bool has_file = guest->reader.file >= 0;
    const bool is_active = virDomainIsActive(guest->domain) > 0;
    const struct domain *domain = &running.domain;
    int result = definition_load_running(&running, guest->domain, &failure);

    /* If --scrub cannot work in the end, say so before the waiting. */
    if (result == 0 && options->scrub && is_active)
        result = delivery_of_running(domain)->check_replace(domain, &failure);
    if (result < 0 && failure->code != FAILURE_LIBVIRT)
        failure_prefix(&failure, "domain '%s'", name_of(guest));
    if (result < 0) {
        waiting_finish(guest, "error", STATUS_FAILURE, NULL, failure);
    } else if (!is_active && !guest->next) {
        cleanup_free char *reason = describe_last_failure(guest);

        failure_set(
            &failure, FAILURE_DOMAIN,
            "domain '%s' is not running%s\n"
            "start it; 'virt-seed wait --next' also waits for a start, and 'virt-seed "
            "status %s' shows how its last boot ended",
            name_of(guest), reason, name_of(guest));
        waiting_finish(guest, "stopped", STATUS_STOPPED, NULL, failure);
    } else if (require_report(domain, is_active, has_file, &failure) < 0) {
        waiting_finish(guest, "silent", STATUS_FAILURE, NULL, failure);
    }
}

void
waiting_on_report(struct guest *guest)
{
    const struct guest_report *report = &guest->report;

    if (guest->is_finished || report->state == GUEST_STATE_NOTHING ||
        strcmp(report->boot, guest->passed) == 0)
        return;
    guest->begun = true;
    progress_show(&guest->progress, report);
    if (guest_state_is_end(report->state))
        finish_by_report(guest, report);
    /* Nobody reads our output any more; main() reports that. */
    if (ferror(stdout))
        guest->waiting->is_finished = true;
}

void
waiting_begin(struct guest *guest)
{
    const struct guest_report *report = &guest->report;
    bool active = guest->has_run;
    bool complete = guest_state_is_end(report->state);
    bool next = guest->next;
    time_t taken =
        active && !next && !complete ? libvirt_snapshot_time(guest->domain) : 0;

    /* A guest that was done before the domain stopped is done. */
    if (next || !active || !complete)
        check_report(guest);
    /* The report of a domain that does not run is a leftover. */
    if (!active || (complete && next))
        snprintf(guest->passed, sizeof(guest->passed), "%s", report->boot);
    waiting_on_report(guest);
    if (!guest->is_finished && !next && report->state == GUEST_STATE_NOTHING)
        finish_by_record(guest, taken);
    if (guest->is_finished || guest->begun)
        return;
    if (taken != 0)
        progress_wait_for(&guest->progress,
                          "a report; it was reverted to a snapshot, and a guest that was "
                          "done then does not report again");
    else if (!next)
        progress_wait_for(&guest->progress, "the guest's first report");
    else
        progress_wait_for(&guest->progress,
                          active ? "the next boot" : "the domain to start");
}

void
waiting_begin_start(struct guest *guest)
{
    guest->next = true;
    guest->starts = true;
    snprintf(guest->passed, sizeof(guest->passed), "%s", guest->report.boot);
}

void
waiting_begin_reboot(struct guest *guest)
{
    guest->next = true;
    snprintf(guest->passed, sizeof(guest->passed), "%s", guest->report.boot);
    waiting_begin(guest);
}

/* --- what happens ----------------------------------------------------------------- */

void
waiting_on_start(struct guest *guest, int detail)
{
    if (guest->is_finished || guest->waiting->options->no_wait)
        return;
    progress_note(&guest->progress, "started");
    guest->begun = guest->begun || detail == VIR_DOMAIN_EVENT_STARTED_BOOTED;
    /* A guest that was saved continues, and what it said before counts. */
    if (guest->starts && detail != VIR_DOMAIN_EVENT_STARTED_BOOTED)
        guest->next = false;
}

void
waiting_on_run(struct guest *guest)
{
    if (guest->is_finished || guest->waiting->options->no_wait)
        return;
    guest->has_run = true;
    if (guest->starts && !guest->next)
        waiting_begin(guest);
    else
        check_report(guest);
}

void
waiting_on_stop(struct guest *guest, int detail)
{
    if (guest->is_finished)
        return;
    if (guest->next && !guest->begun)
        progress_note(&guest->progress, "stopped");
    else
        finish_by_stop(guest, detail);
}

void
waiting_on_failure(struct guest *guest, struct failure **reason)
{
    if (guest->is_finished)
        return;
    failure_prefix(reason, "domain '%s'", name_of(guest));
    waiting_finish(guest, "error", STATUS_FAILURE, &guest->report, *reason);
}

/* --- opening, running, closing ----------------------------------------------------- */

int
waiting_check_options(const struct waiting_options *options, struct failure **failure)
{
    const char *text = options->timeout;

    if (options->no_wait && (text || options->scrub))
        return failure_set(failure, FAILURE_USAGE,
                           "--no-wait and --%s cannot be combined\nomit one of them",
                           text ? "timeout" : "scrub");
    if (!text)
        return 0;
    /* More than fits becomes the largest number. */
    if (*text && !text[strspn(text, "0123456789")] &&
        strtoul(text, NULL, 10) <= LIMIT_TIMEOUT)
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "--timeout='%s' is not a number of seconds\ngive 0 to %d", text,
                       LIMIT_TIMEOUT);
}

int
waiting_open(struct waiting *waiting, const struct context *context,
             const struct waiting_options *options, struct failure **failure)
{
    static const volatile sig_atomic_t status = STATUS_TIMEOUT;

    *waiting = (struct waiting){
        .options = options,
        .context = context,
        .milliseconds = -1,
        .notifier = -1,
        .notifier_handle = -1,
        .signals = -1,
        .signals_handle = -1,
    };
    if (waiting_check_options(options, failure) < 0 ||
        (options->scrub && running_seed_check_caller(context, failure) < 0))
        return -1;
    if (options->timeout) {
        const int seconds = (int)strtoul(options->timeout, NULL, 10);

        waiting->milliseconds = seconds * 1000;
        process_limit_time(
            (unsigned int)seconds + GRACE_SECONDS,
            "virt-seed: error: timed out, and libvirt's daemon does not respond\n"
            "virt-seed: hint: see whether it answers others: virsh list\n",
            &status);
    }
    return follow_open(waiting, failure);
}

struct guest *
waiting_add(struct waiting *waiting, const char *name, struct failure **failure)
{
    virDomainPtr domain = libvirt_find_domain(waiting->connection, name, failure);
    enum progress_style style = PROGRESS_LINES;
    struct guest *guest;

    if (!domain)
        return NULL;
    if (waiting->context->quiet)
        style = PROGRESS_QUIET;
    if (waiting->context->json)
        style = PROGRESS_JSON;
    guest = xcalloc(1, sizeof(*guest));
    guest->waiting = waiting;
    guest->domain = domain;
    guest->next = waiting->options->next;
    virDomainGetUUIDString(domain, guest->uuid);
    /* A domain that is named twice is waited for once. */
    for (size_t i = 0; i < waiting->count; i++) {
        if (strcmp(waiting->guests[i]->uuid, guest->uuid) == 0) {
            virDomainFree(domain);
            free(guest);
            return waiting->guests[i];
        }
    }
    progress_open(&guest->progress, style, virDomainGetName(domain), guest->uuid);
    *array_add(waiting->guests, waiting->count) = guest;
    return follow_add(guest, failure) < 0 ? NULL : guest;
}

static void
handle_deadline(int timer, void *data)
{
    struct waiting *waiting = data;

    virEventUpdateTimeout(timer, -1);
    for (size_t i = 0; i < waiting->count; i++) {
        if (!waiting->guests[i]->is_finished)
            finish_by_time(waiting->guests[i]);
    }
}

int
waiting_run(struct waiting *waiting, struct failure **failure)
{
    int deadline =
        virEventAddTimeout(waiting->milliseconds, handle_deadline, waiting, NULL);
    int result = follow_run(waiting, failure);

    virEventRemoveTimeout(deadline);
    return result;
}

int
waiting_close(struct waiting *waiting, const struct failure *failure)
{
    /* The most important status of several domains is the last of these. */
    static const int order[] = {STATUS_TIMEOUT, STATUS_STOPPED, STATUS_FAILURE};
    int status = STATUS_OK;

    if (failure && failure->code == FAILURE_DOMAIN_MISSING)
        status = STATUS_NO_DOMAIN;
    else if (failure && failure->code == FAILURE_LIBVIRT_MISSING)
        status = STATUS_NO_LIBVIRT;
    else if (failure)
        status = STATUS_FAILURE;
    for (size_t i = 0; !failure && i < ARRAY_SIZE(order); i++) {
        for (size_t j = 0; j < waiting->count; j++) {
            if (waiting->guests[j]->status == order[i])
                status = order[i];
        }
    }
    follow_close(waiting);
    for (size_t i = 0; i < waiting->count; i++) {
        virDomainFree(waiting->guests[i]->domain);
        progress_close(&waiting->guests[i]->progress);
        free(waiting->guests[i]);
    }
    free(waiting->guests);
    /* Raise the signal again, so that our parent sees it. */
    if (waiting->signal != 0)
        raise(waiting->signal);
    return status;
}
