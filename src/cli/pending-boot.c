/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the next start is for cloud-init in the guest: by the instance-id of the seed that it
 * makes, and that of the one that the guest has read. This is the last boot's, as recorded; or,
 * where `update` has put another one into its place and the guest was rebooted since, of which
 * the host does not know, that one.
 */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "cli/pending.h"
#include "seed/digest.h"

/* --- the seed that replaced the last boot's ----------------------------------------- */

static bool
has_digest(const struct record_boot *boot, const char *path, const char *digest)
{
    const struct record_document *document = record_find_document(boot, path);

    return document && strcmp(document->digest, digest) == 0;
}

/* Return: whether the seed has the documents that are recorded. */
static bool
is_recorded(const struct record_boot *boot, const struct seed *seed)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        cleanup_free char *digest = digest_make(&seed->documents[i].data);

        if (!has_digest(boot, seed->documents[i].path, digest))
            return false;
    }
    return seed->document_count == boot->document_count;
}

static bool
is_same_record(const struct record_boot *one, const struct record_boot *other)
{
    for (size_t i = 0; i < one->document_count; i++) {
        if (!has_digest(other, one->documents[i].path, one->documents[i].digest))
            return false;
    }
    return one->document_count == other->document_count;
}

static bool
is_replaced(const struct pending *pending)
{
    const struct record *record = &pending->record;

    if (!record->boot.time)
        return false;
    return (pending->has_current && !is_recorded(&record->boot, &pending->current)) ||
           (record->update.time && !is_same_record(&record->update, &record->boot));
}

const char *
pending_other_instance_id(const struct pending *pending)
{
    const char *other = pending->record.update.instance_id;

    return other && pending->last_instance_id &&
                   strcmp(other, pending->last_instance_id) != 0
               ? other
               : NULL;
}

/* --- the instance ------------------------------------------------------------------- */

static int
find_last_instance_id(struct pending *pending, struct failure **failure)
{
    const struct record_boot *boot = &pending->record.boot;
    const struct layout *layout =
        pending->has_current ? layout_find(pending->current.volume_id) : NULL;
    cleanup_identity struct identity identity = {0};

    if (boot->time) {
        pending->last_instance_id = boot->instance_id ? xstrdup(boot->instance_id) : NULL;
        return 0;
    }
    if (!layout)
        return 0;
    if (layout_read_identity(layout, &pending->current, &identity, failure) < 0)
        return -1;
    pending->last_instance_id = steal(identity.instance_id);
    return 0;
}

/* Both instance-ids are known. */
static enum pending_boot
compare_instance_ids(const struct pending *pending)
{
    const char *next = pending->identity.instance_id;
    const char *other = pending_other_instance_id(pending);
    bool is_last = strcmp(pending->last_instance_id, next) == 0;

    if (other && (is_last || strcmp(other, next) == 0))
        return PENDING_BOOT_DEPENDS;
    return is_last ? PENDING_BOOT_SAME_INSTANCE : PENDING_BOOT_NEW_INSTANCE;
}

static enum pending_boot
judge_boot(const struct pending *pending, bool instance_id_denied)
{
    bool has_past = pending->record.boot.time || pending->has_current;

    if (pending->past_is_denied)
        return PENDING_BOOT_UNKNOWN;
    if (pending->is_kept)
        return PENDING_BOOT_KEPT;
    if (has_past && instance_id_denied)
        return PENDING_BOOT_UNKNOWN;
    if (!has_past)
        return PENDING_BOOT_UNRECORDED;
    if (!pending->last_instance_id || !pending->identity.instance_id)
        return PENDING_BOOT_UNKNOWN;
    return compare_instance_ids(pending);
}

int
pending_judge(struct pending *pending, bool instance_id_denied, struct failure **failure)
{
    if (find_last_instance_id(pending, failure) < 0)
        return -1;
    pending->boot = judge_boot(pending, instance_id_denied);
    pending->is_replaced = is_replaced(pending);
    pending->is_as_replaced = pending->is_replaced && !pending->secrets_are_denied &&
                              is_recorded(&pending->record.update, &pending->next);
    return 0;
}
