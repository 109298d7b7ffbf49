/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How results are recorded: the report covers one start of the domain, in which the guest
 * may have booted several times. The last boot that cloud-init finished counts, even if
 * another one has begun. If there is none (the start failed, the guest was stopped early,
 * or it was resumed and had already reported everything), the record does not change;
 * `started` has already removed the previous boot's result from it.
 *
 * What virt-seed keeps of a domain from one start to the next is not removed here:
 * `virt-seed gc` asks libvirt whether the domain still exists (cli/cmd-gc.c).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "domain/request.h"
#include "lifecycle/lifecycle.h"
#include "store/guest-report.h"
#include "store/leftovers.h"
#include "store/record.h"
#include "store/report-file.h"
#include "store/rundir.h"
#include "store/storage.h"
#include "wire/wire.h"

/* --- the seed ----------------------------------------------------------------------- */

/* The first failure is the operation's; another one is logged after `what`. */
static void
keep_first(const struct lifecycle *lifecycle, const char *what, struct failure **another,
           struct failure **failure)
{
    if (*another && *failure)
        lifecycle_log_failure(lifecycle, what, *another);
    else if (*another)
        *failure = steal(*another);
}

/* There is no seed after a refused start. If one storage fails, the others are still
 * cleaned. */
static void
remove_seed(const struct lifecycle *lifecycle, struct failure **failure)
{
    const char *uuid = lifecycle->domain->uuid;
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);
    bool was_there = false;

    if (rundir < 0)
        return;
    for (size_t i = 0; storages[i]; i++)
        was_there = was_there || storage_inode(storages[i], rundir, uuid) != 0;
    /* An image is one of these files. */
    rundir_remove(rundir, uuid, failure);
    for (size_t i = 0; storages[i]; i++) {
        cleanup_failure struct failure *another = NULL;

        if (!storages[i]->has_image)
            storages[i]->withdraw(rundir, uuid, &another);
        keep_first(lifecycle, "another part of the seed could not be removed", &another,
                   failure);
    }
    if (!*failure && was_there)
        lifecycle_log_event(lifecycle, LIFECYCLE_SEED_REMOVED, NULL, "seed removed");
}

/* --- what the guest reported -------------------------------------------------------- */

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
    bool is_new = result->state == GUEST_STATE_DONE && !record->done &&
                  !record->boot.identity_alone;

    if (is_new)
        is_new = request_read(&request, lifecycle->domain, &failure) == 0;
    if (result->state != GUEST_STATE_DONE) {
        lifecycle_log_event(lifecycle, LIFECYCLE_GUEST_FAILED, &field,
                            "cloud-init reported errors");
    } else if (is_new && request.until_done) {
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
    const struct report_listener listener = {.take_line = take_end, .data = &result};
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

/* --- the operation ------------------------------------------------------------------ */

/* Removes the seed before it reads anything that the guest has written. */
int
lifecycle_release(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *another = NULL;
    cleanup_wire_facts struct wire_facts facts = {0};

    remove_seed(lifecycle, failure);
    wire_facts_read(&facts, lifecycle->domain);
    /* A rehearsal, which asks for nothing, reports to `virt-seed try` alone. */
    if (facts.wants_seed)
        lifecycle_record_result(lifecycle);
    report_file_remove(lifecycle->root, lifecycle->domain->uuid, &another);
    keep_first(lifecycle, "its report could not be removed either", &another, failure);
    leftovers_remove_abandoned(lifecycle->root, lifecycle->domain->uuid);
    return *failure ? -1 : 0;
}
