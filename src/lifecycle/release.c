/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What virt-seed keeps of a domain from one start to the next is not removed here:
 * `virt-seed gc` asks libvirt whether the domain still exists (cli/cmd-gc.c).
 */
#include "config.h"

#include "host/maker.h"
#include "host/own-directory.h"
#include "host/record-file.h"
#include "host/report-file.h"
#include "host/rundir.h"
#include "host/storage.h"
#include "lifecycle/lifecycle.h"

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
    const char *uuid = lifecycle->uuid;
    cleanup_close int rundir = rundir_open(lifecycle->root, failure);
    bool was_there = false;

    if (rundir < 0)
        return;
    /* A mark may be left of a start that failed before it was prepared, as for a running
     * guest. */
    rundir_take_resume(rundir, lifecycle->argument, uuid);
    rundir_forget_resumed(rundir, uuid, failure);
    for (size_t i = 0; storages[i]; i++) {
        cleanup_failure struct failure *another = NULL;

        was_there = was_there || storage_inode(storages[i], rundir, uuid) != 0;
        storages[i]->withdraw(rundir, uuid, &another);
        keep_first(lifecycle, "another part of the seed could not be removed", &another,
                   failure);
    }
    if (!*failure && was_there)
        lifecycle_log_event(lifecycle, LIFECYCLE_SEED_REMOVED, NULL, "seed removed");
}

/* --- what the guest reported -------------------------------------------------------- */

static void
log_result(const struct lifecycle *lifecycle, enum maker_event event)
{
    static const char *const texts[] = {
        [MAKER_EVENT_DONE] = "cloud-init reported success",
        [MAKER_EVENT_UNTIL_DONE] = "cloud-init reported success; from now on the guest "
                                   "gets only its identity",
        [MAKER_EVENT_FAILED] = "cloud-init reported errors",
    };
    const bool has_failed = event == MAKER_EVENT_FAILED;
    const struct journal_field result = {"VIRT_SEED_RESULT",
                                         has_failed ? "failed" : "done"};

    if (event != MAKER_EVENT_NONE)
        lifecycle_log_event(lifecycle,
                            has_failed ? LIFECYCLE_GUEST_FAILED : LIFECYCLE_GUEST_DONE,
                            &result, texts[event]);
}

static int
read_and_record(const struct lifecycle *lifecycle, struct hello *hello,
                struct failure **failure)
{
    const char *uuid = lifecycle->uuid;
    cleanup_maker_result struct maker_result result = {0};
    cleanup_close int lock = -1;

    if (report_file_read(lifecycle->root, uuid, &hello->report, &hello->written,
                         failure) < 0)
        return -1;
    lock = record_lock(lifecycle->root);
    if (record_read_text(lifecycle->root, uuid, &hello->record, failure) < 0)
        return -1;
    /* A domain that was not started with a seed has none. A rehearsal, which asks for
     * nothing, reports to `virt-seed try` alone. */
    if (hello->record.size == 0)
        return 0;
    /* The file's time says when the domain last ran. */
    if (hello->report.size == 0 && !lifecycle->end)
        return record_touch(lifecycle->root, uuid, failure);
    if (maker_run(hello, NULL, NULL, &result, failure) < 0)
        return -1;
    if (record_write_text(lifecycle->root, uuid, &result.text, failure) < 0)
        return -1;
    log_result(lifecycle, result.event);
    return 0;
}

void
lifecycle_record_result(const struct lifecycle *lifecycle)
{
    cleanup_hello struct hello hello = {
        .role = MAKER_REPORT,
        .end = lifecycle->end ? xstrdup(lifecycle->end) : NULL,
    };
    cleanup_failure struct failure *failure = NULL;

    if (read_and_record(lifecycle, &hello, &failure) < 0)
        lifecycle_log_failure(lifecycle, "could not record its result", failure);
}

/* --- the operation ------------------------------------------------------------------ */

/* Removes the seed before it reads anything that the guest has written. */
int
lifecycle_release(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *another = NULL;
    cleanup_failure struct failure *unkept = NULL;

    remove_seed(lifecycle, failure);
    lifecycle_record_result(lifecycle);
    record_forget_next(lifecycle->root, lifecycle->uuid);
    report_file_remove(lifecycle->root, lifecycle->uuid, &another);
    keep_first(lifecycle, "its report could not be removed either", &another, failure);
    log_file_keep(lifecycle->root, lifecycle->uuid, &unkept);
    keep_first(lifecycle, "its log could not be kept either", &unkept, failure);
    abandoned_remove(lifecycle->root, lifecycle->uuid);
    return *failure ? -1 : 0;
}
