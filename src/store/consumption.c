/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: what was delivered last is the update of the boot's seed, or else that seed.
 * The states follow from the guest's last claim, and the first that holds is it:
 *
 *   no boot is recorded, or the guest claims nothing       NONE, UNKNOWN
 *   it read another seed than the last, and keeps it       OLDER
 *   it claimed that before the update, or it has read      OLDER, until it is rebooted
 *     what the update has replaced
 *   it read another seed than the last                     DIFFERENT
 *   it did not use a part of what it read                  DROPPED
 *   the first boot of its instance applied another one     OLDER, until it is a new instance
 *   ... claims nothing / applied the last one              READ, APPLIED
 */
#include "config.h"

#include "base/json.h"
#include "domain/digest.h"
#include "host/datasource.h"
#include "host/documents.h"
#include "seed/layout.h"
#include "store/consumption.h"

static const char *
find_word(enum consumption consumption)
{
    static const char *const words[] = {
        [CONSUMPTION_READ] = "read",
        [CONSUMPTION_APPLIED] = "applied",
        [CONSUMPTION_OLDER] = "older seed applied",
        [CONSUMPTION_DIFFERENT] = "not applied",
        [CONSUMPTION_DROPPED] = "not applied",
    };

    return consumption < ARRAY_SIZE(words) ? words[consumption] : NULL;
}

char *
consumption_describe(enum consumption consumption, const char *reason)
{
    const char *word = find_word(consumption);

    if (!word)
        return NULL;
    if (consumption == CONSUMPTION_DROPPED)
        return xasprintf("%s (%s)", word, reason);
    return xasprintf("%s%s%s", word, reason ? ": " : "", reason ? reason : "");
}

json_t *
consumption_pack(enum consumption consumption, const char *reason,
                 const struct guest_claim *claim)
{
    if (!claim->instance_id && !claim->failed_module && claim->dropped_count == 0)
        return json_null();
    return json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:o}", "seed",
                     find_word(consumption), "reason", reason, "cloud-init",
                     claim->version, "instance-id", claim->instance_id, "failed-module",
                     claim->failed_module, "log", claim->failed_log, "dropped",
                     json_texts(claim->dropped, claim->dropped_count));
}

/* Return: the digest of what cloud-init keeps of a document that it got, or NULL if that is
 * another form than the document itself, and not known. */
static const char *
find_kept(const struct record_document *delivered, const struct layout_document *known)
{
    const bool has_other_form = known->role == LAYOUT_VENDOR_DATA_JSON ||
                                known->role == LAYOUT_NETWORK_CONFIG ||
                                known->role == LAYOUT_NETWORK_DATA_JSON;

    if (delivered->kept)
        return delivered->kept;
    return has_other_form ? NULL : delivered->digest;
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
    const struct layout_document *known =
        layout ? layout_find_role(layout, roles[document][0], roles[document][1]) : NULL;
    cleanup_free char *nothing = digest_make(&(struct buffer){0});
    const struct record_document *delivered;
    const char *expected = nothing;

    if (!known || !digests[document])
        return true;
    delivered = record_find_document(boot, known->path);
    if (delivered)
        expected = find_kept(delivered, known);
    /* Without a network-config, cloud-init writes its own. */
    if (!expected || (!delivered && document == KEPT_NETWORK_CONFIG))
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

/* Return: whether the guest claimed it before the update, and so of another seed. Times are in
 * seconds; no guest boots and reads an update in the second in which that is made. */
static bool
is_claimed_before(const struct record_boot *update, const char *claimed)
{
    return update->time && claimed && strcmp(claimed, update->time) <= 0;
}

const struct record_boot *
consumption_find_read(const struct record *record, const struct guest_claim *claim,
                      const char *claimed)
{
    const struct record_boot *update = &record->update;

    if (!update->time || !claim->instance_id || is_claimed_before(update, claimed))
        return &record->boot;
    if (!find_difference(&record->boot, claim) || find_difference(update, claim))
        return &record->boot;
    return update;
}

/* `difference` is that of what the guest read from the update. */
static bool
needs_reboot(const struct record *record, const struct guest_claim *claim,
             const char *claimed, const char *difference)
{
    const struct record_boot *update = &record->update;

    if (!update->time)
        return false;
    if (is_claimed_before(update, claimed))
        /* The update may have put the boot's seed back. */
        return difference || !record_boot_is_same(update, &record->boot);
    return difference && !find_difference(&record->boot, claim);
}

static enum consumption
find_older(const char *why, const char **reason)
{
    *reason = why;
    return CONSUMPTION_OLDER;
}

enum consumption
consumption_find(const struct record *record, const struct guest_claim *claim,
                 const char *claimed, const char **reason)
{
    const struct record_boot *boot = &record->boot;
    const struct record_boot *last = record->update.time ? &record->update : boot;
    bool is_reboot_due;

    *reason = NULL;
    if (!boot->time)
        return CONSUMPTION_NONE;
    if (!claim->instance_id || !claim->documents[KEPT_USER_DATA] || !boot->datasource)
        return CONSUMPTION_UNKNOWN;
    *reason = find_difference(last, claim);
    is_reboot_due = needs_reboot(record, claim, claimed, *reason);
    if ((*reason || is_reboot_due) && record->cache_keep)
        return find_older("it keeps what it has read", reason);
    if (is_reboot_due && last->instance_id &&
        strcmp(claim->instance_id, last->instance_id) == 0)
        return find_older("needs a reboot, and a new instance", reason);
    if (is_reboot_due)
        return find_older("needs a reboot", reason);
    if (*reason)
        return CONSUMPTION_DIFFERENT;
    if (claim->dropped_count > 0) {
        *reason = claim->dropped[0];
        return CONSUMPTION_DROPPED;
    }
    /* The guest gets its identity alone after it has applied everything else. */
    if (boot->identity_alone)
        return CONSUMPTION_APPLIED;
    if (!claim->first[KEPT_USER_DATA])
        return CONSUMPTION_READ;
    if (!may_be_same(last, claim->first, KEPT_USER_DATA) ||
        !may_be_same(last, claim->first, KEPT_NETWORK_CONFIG))
        return find_older("needs a new instance", reason);
    return CONSUMPTION_APPLIED;
}
