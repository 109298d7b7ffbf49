/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How results are recorded: the report covers one start of the domain, in which the guest
 * may have booted several times. The last boot that cloud-init finished counts, even if
 * another one has begun. If there is none (the start failed, the guest was stopped early,
 * or it was resumed and had already reported everything), the record does not change;
 * `started` has already removed the previous boot's result from it.
 *
 * How records are swept: libvirt does not call a hook when a domain is undefined, so its
 * record stays. The hook cannot ask libvirt, but libvirt's definitions are files named
 * after domains, and a transient domain that has been running for 90 days has its seed in
 * the run-time directory. A domain that has been renamed loses only its digests: a record
 * with 'done' is kept.
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

#define DAYS 90
#define DAY (24L * 60 * 60)

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

/* --- records of domains that are gone ----------------------------------------------- */

static bool
is_old(int directory, const char *name)
{
    struct stat status;

    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && time(NULL) - status.st_mtime > DAYS * DAY;
}

/* Return: whether the file certainly does not exist. Without the directory, nothing is
 * certain. */
static bool
is_missing(int root, const char *directory_path, const char *name)
{
    cleanup_close int directory = fs_open_directory_in_root(root, directory_path);
    cleanup_close int fd = -1;

    if (directory < 0)
        return false;
    fd = fs_open_beneath(directory, name, 0);
    return fd == -ENOENT;
}

static bool
is_gone(int root, const char *uuid)
{
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_free char *definition = NULL;

    if (record_read(root, uuid, &record, &failure) < 0 || record.done ||
        !record.boot.name)
        return false;
    definition = xasprintf("%s.xml", record.boot.name);
    for (size_t i = 0; storages[i]; i++) {
        cleanup_free char *seed = storages[i]->name(uuid);

        if (!is_missing(root, VIRT_SEED_RUNDIR, seed))
            return false;
    }
    return is_missing(root, VIRT_SEED_DEFINITIONS, definition);
}

/* Removes records of domains that have neither run for 90 days nor have a definition, but
 * never one that says that a guest is set up. Looks at no more than LIMIT_SWEEP names,
 * logs nothing, and stops if it cannot lock the records. */
static void
sweep_records(const struct lifecycle *lifecycle)
{
    cleanup_close int fd = fs_open_directory_in_root(lifecycle->root, VIRT_SEED_STATEDIR);
    cleanup_closedir DIR *dir = fd < 0 ? NULL : fs_list(fd);
    const struct dirent *entry;

    for (int i = 0; dir && i < LIMIT_SWEEP && (entry = readdir(dir)); i++) {
        const char *name = entry->d_name;
        cleanup_close int lock = -1;
        char uuid[UUID_LENGTH + 1];

        if (!leftover_names_domain(name, uuid) ||
            strcmp(name + strlen(uuid), RECORD_SUFFIX) != 0 || !is_old(dirfd(dir), name))
            continue;
        lock = record_lock(lifecycle->root);
        if (lock < 0)
            return;
        if (is_old(dirfd(dir), name) && is_gone(lifecycle->root, uuid))
            unlinkat(dirfd(dir), name, 0);
    }
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
    sweep_records(lifecycle);
    return *failure ? -1 : 0;
}
