/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libvirt has started the guest with the seed that prepare made. The record
 * changes only now, so that a failed start does not change it; prepare has written what it
 * will say.
 *
 * By now QEMU has opened its seed. virtlogd, which writes files as root, may have put
 * something else in the seed's place in between, for a device that the hook did not find.
 * Then the guest ends, before it has read much.
 */
#include "config.h"

#include "base/names.h"
#include "host/domain-text.h"
#include "host/maker.h"
#include "host/record-file.h"
#include "host/rundir.h"
#include "host/storage.h"
#include "lifecycle/lifecycle.h"

/* Return: whether the domain's seed is a value in the XML, so that prepare has made it; in
 * <metadata> or <description> it is only text. */
static bool
names_seed(const struct buffer *xml, const char *uuid)
{
    cleanup_free char *path = seed_path(uuid);
    cleanup_failure struct failure *failure = NULL;
    cleanup_domain_text struct domain_text text = {0};
    struct domain_value value;
    int result = 0;

    if (!memmem(xml->data, xml->size, path, strlen(path)))
        return false;
    if (domain_text_begin(&text, xml, &failure) == 0) {
        while ((result = domain_text_next(&text, &value, &failure)) > 0) {
            if (strcmp(value.text, path) == 0)
                return true;
        }
    }
    /* In doubt, it has. */
    return failure != NULL;
}

/* A resumed guest has read its seed long ago. */
static int
check_seed(const struct lifecycle *lifecycle, struct failure **failure)
{
    const char *uuid = lifecycle->uuid;
    const bool has_disk = names_seed(lifecycle->xml, uuid);
    cleanup_failure struct failure *ignored = NULL;
    cleanup_close int rundir = rundir_open(lifecycle->root, &ignored);

    if (rundir < 0 || storage_image_take_made(rundir, uuid, has_disk) ||
        rundir_is_resumed(rundir, uuid))
        return 0;
    return failure_set(
        failure, FAILURE_FORBIDDEN_PATH,
        "another program wrote to the seed, or replaced or removed it, while the domain "
        "started\n"
        "look for a device of another domain that leads to %s/%s" SEED_SUFFIX,
        scope()->rundir, uuid);
}

/* A command has changed the record since prepare read it. */
static int
merge_record(const struct lifecycle *lifecycle, struct hello *hello,
             struct failure **failure)
{
    cleanup_maker_result struct maker_result result = {0};

    if (record_read_text(lifecycle->root, lifecycle->uuid, &hello->record, failure) < 0 ||
        maker_run(hello, NULL, NULL, &result, failure) < 0)
        return -1;
    return record_write_text(lifecycle->root, lifecycle->uuid, &result.text, failure);
}

static int
record_start(const struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_hello struct hello hello = {.role = MAKER_MERGE};
    cleanup_close __attribute__((unused)) int lock = record_lock(lifecycle->root);

    if (record_take_next(lifecycle->root, lifecycle->uuid, &hello.next, failure) < 0)
        return -1;
    return hello.next.size > 0 ? merge_record(lifecycle, &hello, failure) : 0;
}

int
lifecycle_started(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;

    if (check_seed(lifecycle, failure) < 0)
        return -1;
    if (record_start(lifecycle, &reason) < 0)
        lifecycle_log_failure(lifecycle, "could not record the seed it was started with",
                              reason);
    return 0;
}
