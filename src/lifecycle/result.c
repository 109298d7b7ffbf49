/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the report is that of one start of the domain, in which the guest may
 * have booted several times. The last boot that came to its end counts: another that had
 * just begun takes nothing back. Where there is none, because the start has failed, the
 * guest was stopped early, or was resumed and had said all before, the record stays as it
 * is; `started` has taken the result of the boot before out of it.
 */
#include "config.h"

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
}

/* --- the record ------------------------------------------------------------------- */

/* Logs the result, and takes it for the record's; a guest that was to be set up by this
 * boot, and is, is recorded as done. */
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
                            "cloud-init has reported errors");
    } else if (!record->done && !record->boot.identity_alone &&
               request_read(&request, lifecycle->domain, &failure) == 0 &&
               request.until_done) {
        lifecycle_log_event(lifecycle, LIFECYCLE_GUEST_DONE, &field,
                            "cloud-init has reported success; from now on the guest gets "
                            "its identity alone");
        record->done = record_time(time(NULL));
    } else {
        lifecycle_log_event(lifecycle, LIFECYCLE_GUEST_DONE, &field,
                            "cloud-init has reported success");
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
    /* Also if nothing is new: the file's time says when the domain was last there. */
    return record_write(lifecycle->root, uuid, &record, failure);
}

void
result_record(const struct lifecycle *lifecycle)
{
    cleanup_failure struct failure *failure = NULL;

    if (read_and_record(lifecycle, &failure) < 0)
        lifecycle_log_failure(lifecycle, "its result is not recorded", failure);
}
