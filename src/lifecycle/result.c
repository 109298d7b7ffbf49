/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the report covers one start of the domain, in which the guest may have
 * booted several times. The last boot that cloud-init finished counts, even if another
 * one has begun. If there is none (the start failed, the guest was stopped early, or it
 * was resumed and had already reported everything), the record does not change; `started`
 * has already removed the previous boot's result from it.
 */
#include "config.h"

#include "base/json.h"
#include "base/memory.h"
#include "domain/request.h"
#include "lifecycle/lifecycle.h"
#include "store/guest-report.h"
#include "store/record.h"
#include "store/report-file.h"

/* --- the report ------------------------------------------------------------------- */

static char **
copy_texts(const struct guest_messages *messages)
{
    char **texts = xcalloc(messages->count, sizeof(*texts));

    for (size_t i = 0; i < messages->count; i++)
        texts[i] = xstrdup(messages->list[i].text);
    return texts;
}

static void
take_end(const struct guest_report *report, void *data)
{
    struct record_result *result = data;
    cleanup_json json_t *claim = json_object();

    if (!guest_state_is_end(report->state))
        return;
    record_result_clear(result);
    *result = (struct record_result){
        .state = report->state,
        .datasource = report->datasource ? xstrdup(report->datasource) : NULL,
        .errors = copy_texts(&report->errors),
        .error_count = report->errors.count,
        .warnings = copy_texts(&report->warnings),
        .warning_count = report->warnings.count,
    };
    guest_claim_write(&report->claim, claim);
    guest_claim_read(&result->claim, claim);
}

/* --- the record ------------------------------------------------------------------- */

/* Logs the result and moves it into the record; with boots="until-done", success records
 * the guest as done. */
static void
take_result(const struct lifecycle *lifecycle, struct record *record,
            struct record_result *result)
{
    const struct journal_field field = {"VIRT_SEED_RESULT",
                                        guest_state_word(result->state)};
    cleanup_request struct request request = {0};
    cleanup_failure struct failure *failure = NULL;

    if (result->state != GUEST_STATE_DONE) {
        lifecycle_log_event(lifecycle, LIFECYCLE_GUEST_FAILED, &field,
                            "cloud-init reported errors");
    } else if (!record->done && !record->boot.identity_alone &&
               request_read(&request, lifecycle->domain, &failure) == 0 &&
               request.until_done) {
        lifecycle_log_event(
            lifecycle, LIFECYCLE_GUEST_DONE, &field,
            "cloud-init reported success; from now on the guest gets only its identity");
        record->done = record_time(time(NULL));
    } else {
        lifecycle_log_event(lifecycle, LIFECYCLE_GUEST_DONE, &field,
                            "cloud-init reported success");
    }
    record_set_result(record, result);
}

static int
read_and_record(const struct lifecycle *lifecycle, struct failure **failure)
{
    const char *uuid = lifecycle->domain->uuid;
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_record_result struct record_result result = {0};
    const struct report_listener listener = {.said = take_end, .data = &result};
    cleanup_record struct record record = {0};
    cleanup_close int lock = -1;
    time_t written;

    if (report_read(lifecycle->root, uuid, &report, &listener, &written, failure) < 0)
        return -1;
    if (guest_state_is_end(result.state) && written != 0)
        result.time = record_time(written);
    lock = record_lock(lifecycle->root);
    if (record_read(lifecycle->root, uuid, &record, failure) < 0)
        return -1;
    if (guest_state_is_end(result.state))
        take_result(lifecycle, &record, &result);
    record_set_end(&record, lifecycle->end);
    /* Even if nothing is new: the file's time says when the domain last ran. */
    return record_write(lifecycle->root, uuid, &record, failure);
}

void
lifecycle_record_result(const struct lifecycle *lifecycle)
{
    cleanup_failure struct failure *failure = NULL;

    if (read_and_record(lifecycle, &failure) < 0)
        lifecycle_log_failure(lifecycle, "could not record its result", failure);
}
