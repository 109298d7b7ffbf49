/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libvirt has started the guest with the seed that prepare made. The boot
 * is recorded only now, so that a failed start does not change the record.
 *
 * By now QEMU has opened its seed. virtlogd, which writes files as root, may have put
 * something else in the seed's place in between, for a device that the hook did not find.
 * Then the guest ends, before it has read much.
 */
#include "config.h"

#include <errno.h>
#include <time.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "domain/documents.h"
#include "domain/request.h"
#include "lifecycle/lifecycle.h"
#include "store/record.h"
#include "store/rundir.h"
#include "store/storage.h"

/* The guest as it was started; all is borrowed. */
struct started {
    const struct lifecycle *lifecycle;
    const struct wire_facts *facts;
    int rundir;
    bool resumed;
    int seed; /* opened; or -errno */
    const struct storage *storage;
    struct stat status; /* of the seed, if it is opened */
};

/*
 * Logs the seed's digest unless the seed has more than what is in the XML, which is public
 * anyway: a reader of the journal who knows everything else in the seed could test guesses
 * of a password in a secret or a file against the digest.
 */
static void
log_made(const struct started *started, const struct request *request)
{
    cleanup_buffer struct buffer image = {0};
    cleanup_free char *digest = NULL;
    const struct config *config = started->lifecycle->config;
    bool is_public = !config->vendor_data.value && !config->default_keys.value &&
                     !config->default_user.value;

    for (size_t i = 0; i < request->parts.count; i++)
        is_public = is_public && request->parts.list[i]->origin == PART_INLINE;
    if (is_public && started->storage->has_image &&
        fs_read_all(started->seed, LIMIT_IMAGE, &image) == 0)
        digest = digest_make(&image);
    lifecycle_log_event(started->lifecycle, LIFECYCLE_SEED_MADE,
                        &(struct journal_field){"VIRT_SEED_DIGEST", digest}, "seed made");
}

static int
record_this_boot(const struct started *started, const struct request *request,
                 struct failure **failure)
{
    const struct lifecycle *lifecycle = started->lifecycle;
    cleanup_record_boot struct record_boot boot = {0};
    cleanup_record struct record record = {0};
    cleanup_close int lock = -1;
    int error;

    error = record_take_next(started->rundir, lifecycle->domain->uuid, &boot);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_RECORD, error,
                                 "could not read %s/%s" NEXT_BOOT_SUFFIX,
                                 VIRT_SEED_RUNDIR, lifecycle->domain->uuid);
    lock = record_lock(lifecycle->root);
    if (record_read(lifecycle->root, lifecycle->domain->uuid, &record, failure) < 0)
        return -1;
    boot.identity_alone = request->until_done && record.done;
    record.cache_keep = request->cache || record.cache_keep;
    record_set_boot(&record, &boot);
    return record_write(lifecycle->root, lifecycle->domain->uuid, &record, failure);
}

/* A state that was saved before the last boot knows nothing of that boot. */
static int
record_resumed(const struct lifecycle *lifecycle, struct failure **failure)
{
    const char *uuid = lifecycle->domain->uuid;
    cleanup_record struct record record = {0};
    cleanup_close int lock = record_lock(lifecycle->root);

    (void)lock;
    if (record_read(lifecycle->root, uuid, &record, failure) < 0)
        return -1;
    if (!record_forget_later_boot(&record))
        return 0;
    lifecycle_log(lifecycle, "resumed from a state that is older than its last boot; the "
                             "result of that boot is not this guest's");
    return record_write(lifecycle->root, uuid, &record, failure);
}

/* This is another run of the hook, so it reads the request again: whether it names
 * secrets, and what it says about other boots (until_done, cache). */
static int
record_start(const struct started *started, struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (started->seed < 0 || !wire_facts_are_wired(started->facts))
        return 0;
    if (request_read(&request, started->lifecycle->domain, failure) < 0)
        return -1;
    log_made(started, &request);
    if (started->resumed)
        return record_resumed(started->lifecycle, failure);
    return record_this_boot(started, &request, failure);
}

/* virtlogd renames a file before it makes another one, so the seed may be missing, too. A
 * resumed guest has read it long ago. */
static int
check_seed(const struct started *started, struct failure **failure)
{
    const bool is_missing = started->seed == -ENOENT && started->facts->disk;
    const bool is_rewritten = started->seed >= 0 && started->storage->has_image &&
                              !image_is_as_published(&started->status);

    if (started->resumed || (!is_missing && !is_rewritten))
        return 0;
    return failure_set(
        failure, FAILURE_FORBIDDEN_PATH,
        "another program wrote to the seed, or replaced or removed it, while the domain "
        "started\n"
        "look for a device of another domain that leads to %s/%s" SEED_SUFFIX,
        VIRT_SEED_RUNDIR, started->lifecycle->domain->uuid);
}

int
lifecycle_started(struct lifecycle *lifecycle, struct failure **failure)
{
    const struct domain *domain = lifecycle->domain;
    cleanup_failure struct failure *reason = NULL;
    cleanup_wire_facts struct wire_facts facts = {0};
    struct started started = {
        .lifecycle = lifecycle,
        .facts = &facts,
        .rundir = rundir_open(lifecycle->root, &reason),
    };
    cleanup_close int rundir = started.rundir;
    cleanup_close int seed = -1;

    if (rundir >= 0) {
        wire_facts_read(&facts, domain);
        started.resumed = rundir_is_resumed(rundir, domain->uuid);
        seed = storage_open(rundir, domain->uuid, &started.storage, &started.status);
        started.seed = seed;
        if (check_seed(&started, failure) < 0)
            return -1;
        record_start(&started, &reason);
    }
    if (reason)
        lifecycle_log_failure(lifecycle, "could not record the seed it was started with",
                              reason);
    return 0;
}
