/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How results are recorded: the report covers one start of the domain, in which the guest
 * may have booted several times. The last boot that cloud-init finished counts, even if
 * another one has begun. If there is none (the start failed, the guest was stopped early,
 * or it was resumed and had already reported everything), the result does not change; the
 * start has already removed the previous boot's.
 */
#include "config.h"

#include "maker/maker.h"
#include "store/guest-report.h"
#include "store/record.h"

static char **
take_texts(struct guest_messages *messages)
{
    char **texts = xcalloc(messages->count, sizeof(*texts));

    for (size_t i = 0; i < messages->count; i++)
        texts[i] = steal(messages->list[i].text);
    return texts;
}

/* Moves it, since the next line replaces the whole report. */
static void
take_end(struct guest_report *report, struct record_result *result)
{
    if (!guest_state_is_end(report->state))
        return;
    record_result_clear(result);
    *result = (struct record_result){
        .state = report->state,
        .datasource = steal(report->datasource),
        .errors = take_texts(&report->errors),
        .error_count = report->errors.count,
        .warnings = take_texts(&report->warnings),
        .warning_count = report->warnings.count,
        .claim = report->claim,
    };
    report->claim = (struct guest_claim){0};
}

static void
read_report(const struct buffer *text, struct record_result *result)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    size_t at = 0;

    while (at < text->size) {
        bool is_new;

        at += guest_report_feed(&report, text->data + at, text->size - at, &is_new);
        if (is_new)
            take_end(&report, result);
    }
}

/* With boots="until-done", success also records the guest as done. */
static enum maker_event
set_result(struct record *record, struct record_result *result)
{
    enum maker_event event = MAKER_EVENT_DONE;

    if (result->state != GUEST_STATE_DONE) {
        event = MAKER_EVENT_FAILED;
    } else if (record->boot.until_done && !record->done && !record->boot.identity_alone) {
        record->done = record_time(time(NULL));
        event = MAKER_EVENT_UNTIL_DONE;
    }
    record_set_result(record, result);
    return event;
}

int
maker_report(struct hello *hello, struct maker_result *result, struct failure **failure)
{
    cleanup_record_result struct record_result last = {0};
    cleanup_record struct record record = {0};

    if (record_parse(&record, &hello->record, failure) < 0)
        return -1;
    read_report(&hello->report, &last);
    if (guest_state_is_end(last.state)) {
        if (hello->written != 0)
            last.time = record_time(hello->written);
        result->event = set_result(&record, &last);
    }
    record_set_end(&record, hello->end);
    record_format(&record, &result->text);
    return 0;
}

int
maker_merge(struct hello *hello, struct maker_result *result, struct failure **failure)
{
    cleanup_record struct record merged = {0};
    cleanup_record struct record started = {0};

    if (record_parse(&merged, &hello->record, failure) < 0 ||
        record_parse(&started, &hello->next, failure) < 0)
        return -1;
    merged.cache_keep = merged.cache_keep || started.cache_keep;
    if (started.boot.time)
        record_set_boot(&merged, &started.boot);
    else
        record_forget_later_boot(&merged);
    record_format(&merged, &result->text);
    return 0;
}
