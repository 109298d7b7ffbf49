/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "domain/datasource.h"
#include "domain/documents.h"
#include "seed/layout.h"
#include "store/consumption.h"

const char *
consumption_word(enum consumption consumption)
{
    static const char *const words[] = {
        [CONSUMPTION_READ] = "read",
        [CONSUMPTION_APPLIED] = "applied",
        [CONSUMPTION_OLDER] = "older seed applied",
        [CONSUMPTION_DIFFERENT] = "not applied",
    };

    return consumption < ARRAY_SIZE(words) ? words[consumption] : NULL;
}

json_t *
consumption_pack(enum consumption consumption, const char *reason,
                 const struct guest_claim *claim)
{
    if (!claim->instance_id && !claim->failed_module)
        return json_null();
    return json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:s?}", "seed",
                     consumption_word(consumption), "reason", reason, "cloud-init",
                     claim->version, "instance-id", claim->instance_id, "failed-module",
                     claim->failed_module, "log", claim->failed_log);
}

/* Return: whether the digest is of what cloud-init should have kept of the boot's document,
 * or one of both is not known. */
static bool
may_be_same(const struct record_boot *boot, char *const *digests,
            enum kept_document document)
{
    static const enum layout_role roles[KEPT_COUNT][2] = {
        [KEPT_USER_DATA] = {LAYOUT_USER_DATA, LAYOUT_USER_DATA},
        [KEPT_VENDOR_DATA] = {LAYOUT_VENDOR_DATA, LAYOUT_VENDOR_DATA_JSON},
        [KEPT_NETWORK_CONFIG] = {LAYOUT_NETWORK_CONFIG, LAYOUT_NETWORK_DATA_JSON},
    };
    const struct datasource *datasource =
        boot->datasource ? datasource_find(boot->datasource) : NULL;
    const struct layout *layout = datasource ? layout_find(datasource->label) : NULL;
    const struct layout_document *kept =
        layout ? layout_find_role(layout, roles[document][0], roles[document][1]) : NULL;
    const struct record_document *found =
        kept ? record_find_document(boot, kept->path) : NULL;
    cleanup_free char *nothing = found ? NULL : digest_make(&(struct buffer){0});
    const char *expected = nothing;

    if (!kept || !digests[document])
        return true;
    if (found)
        expected = found->kept ? found->kept : found->digest;
    /* Of these, cloud-init keeps another form than the document itself. */
    if (!(found && found->kept) && (document == KEPT_NETWORK_CONFIG ||
                                    (found && kept->role == LAYOUT_VENDOR_DATA_JSON)))
        return true;
    return strcmp(expected, digests[document]) == 0;
}

/* Return: how what was read differs from the boot's seed, or NULL. */
static const char *
find_difference(const struct record_boot *boot, const struct guest_claim *claim)
{
    if (boot->instance_id && strcmp(boot->instance_id, claim->instance_id) != 0)
        return "another instance-id";
    if (!may_be_same(boot, claim->documents, KEPT_USER_DATA))
        return "other user-data";
    if (!may_be_same(boot, claim->documents, KEPT_VENDOR_DATA))
        return "other vendor-data";
    /* Later boots of an instance do not apply it, and cloud-init keeps the old one. */
    if (claim->is_new && !may_be_same(boot, claim->documents, KEPT_NETWORK_CONFIG))
        return "another network-config";
    return NULL;
}

/* Return: whether it was said before the delivery. */
static bool
is_earlier(const char *said, const struct record_boot *delivery)
{
    return said && strcmp(said, delivery->time) < 0;
}

const struct record_boot *
consumption_find_read(const struct record *record, const struct guest_claim *claim,
                      const char *said)
{
    if (!claim->instance_id || !find_difference(&record->boot, claim))
        return &record->boot;
    if (record->update.time && !is_earlier(said, &record->update) &&
        !find_difference(&record->update, claim))
        return &record->update;
    for (size_t i = 0; i < record->earlier_count; i++) {
        if (!is_earlier(said, &record->earlier[i]) &&
            !find_difference(&record->earlier[i], claim))
            return &record->earlier[i];
    }
    return &record->boot;
}

enum consumption
consumption_find(const struct record *record, const struct guest_claim *claim,
                 const char *said, const char **reason)
{
    const struct record_boot *boot = &record->boot;
    /* The last update may have put the boot's seed back. */
    const bool is_updated =
        record->update.time && !record_boot_is_same(&record->update, boot);
    const struct record_boot *last = is_updated ? &record->update : boot;
    const struct record_boot *read = consumption_find_read(record, claim, said);
    bool is_reboot_due;

    *reason = NULL;
    if (!boot->time)
        return CONSUMPTION_NONE;
    if (!claim->instance_id || !claim->documents[KEPT_USER_DATA] || !boot->datasource)
        return CONSUMPTION_UNKNOWN;
    *reason = find_difference(last, claim);
    is_reboot_due = read != last && (*reason || is_earlier(said, last)) &&
                    !find_difference(read, claim);
    if ((*reason || is_reboot_due) && record->cache_keep) {
        *reason = "it keeps what it has read";
        return CONSUMPTION_OLDER;
    }
    if (is_reboot_due) {
        bool is_new = read->instance_id && last->instance_id &&
                      strcmp(read->instance_id, last->instance_id) != 0;

        *reason = is_new ? "needs a reboot" : "needs a reboot, and a new instance";
        return CONSUMPTION_OLDER;
    }
    if (*reason)
        return CONSUMPTION_DIFFERENT;
    /* The guest gets its identity alone after it has applied everything else. */
    if (boot->identity_alone)
        return CONSUMPTION_APPLIED;
    if (!claim->first[KEPT_USER_DATA])
        return CONSUMPTION_READ;
    if (may_be_same(last, claim->first, KEPT_USER_DATA) &&
        may_be_same(last, claim->first, KEPT_NETWORK_CONFIG))
        return CONSUMPTION_APPLIED;
    *reason = "needs a new instance";
    return CONSUMPTION_OLDER;
}
