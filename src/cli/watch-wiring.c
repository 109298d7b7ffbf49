/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a timer, which runs out in milliseconds, takes one domain after another
 * and wires it (cli/definition.h). What has just been defined goes before what was listed
 * when libvirt's daemon was reached. Wiring is itself an event: the domain is looked at
 * once more, and found wired.
 *
 * A program that defines a domain may define it again at once, and libvirt has no way to
 * change a definition only if it is still the one that was read: the last one wins. So a
 * definition is left alone until nobody has changed it for a moment; a command that is
 * started meanwhile, such as `virsh start`, takes longer than that to begin.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/process.h"
#include "base/service.h"
#include "cli/change.h"
#include "cli/libvirt.h"
#include "cli/watch.h"

#define SETTLE_MILLISECONDS 10

/* How often a definition that somebody else changes at the same time is read again. */
#define ROUNDS 5

/* If a domain must be wired so often within that time, something keeps unwiring it: it is
 * left alone for the rest of that time. */
#define WIRINGS 50
#define WIRINGS_MILLISECONDS 60000

static struct recent *
find_recent(struct watch *watch, const char *uuid)
{
    for (size_t i = 0; i < ARRAY_SIZE(watch->recent); i++) {
        if (strcmp(watch->recent[i].uuid, uuid) == 0)
            return &watch->recent[i];
    }
    return NULL;
}

static void
count_wiring(struct watch *watch, virDomainPtr domain, const char *uuid)
{
    struct recent *slot = find_recent(watch, uuid);
    int64_t now = clock_milliseconds();

    if (!slot) {
        slot = &watch->recent[0];
        for (size_t i = 1; i < ARRAY_SIZE(watch->recent); i++) {
            if (watch->recent[i].since < slot->since)
                slot = &watch->recent[i];
        }
    }
    if (strcmp(slot->uuid, uuid) != 0 || now - slot->since >= WIRINGS_MILLISECONDS) {
        *slot = (struct recent){.since = now};
        snprintf(slot->uuid, sizeof(slot->uuid), "%s", uuid);
    }
    slot->is_new = true;
    if (++slot->count == WIRINGS)
        watch_log(WATCH_ERROR,
                  "domain '%s': its wiring is undone again and again; it is left alone "
                  "for %d seconds",
                  virDomainGetName(domain), WIRINGS_MILLISECONDS / 1000);
}

/* What somebody else changes at the same time is read again. Return: as
 * definition_wire_in_libvirt(). */
static enum definition_state
wire_in_rounds(const struct watch *watch, virDomainPtr domain, struct wiring *wiring,
               struct failure **failure)
{
    for (int round = 1;; round++) {
        enum definition_state state = definition_wire_in_libvirt(
            watch->context, watch->connection, domain, wiring, failure);

        if (state != DEFINITION_CHANGED || round == ROUNDS)
            return state;
        wiring_clear(wiring);
        failure_free(*failure);
        *failure = NULL;
    }
}

/* Return: whether it was wired now. */
static bool
wire(struct watch *watch, const struct watched *watched)
{
    virDomainPtr domain = virDomainLookupByUUIDString(watch->connection, watched->uuid);
    struct recent *recent = find_recent(watch, watched->uuid);
    bool is_left_alone = recent && recent->count >= WIRINGS &&
                         clock_milliseconds() - recent->since < WIRINGS_MILLISECONDS;
    cleanup_wiring struct wiring wiring = {0};
    cleanup_failure struct failure *failure = NULL;
    enum definition_state state = DEFINITION_ASKS_NOTHING;

    /* What has gone since is not a failure; nor is a transient domain, which has no
     * definition. */
    if (domain && virDomainIsPersistent(domain) == 1 && !is_left_alone)
        state = wire_in_rounds(watch, domain, &wiring, &failure);
    if (state == DEFINITION_WIRED) {
        cleanup_free char *changes = wiring_describe(&wiring);

        watch_log(WATCH_NOTICE, "domain '%s' was wired: %s", virDomainGetName(domain),
                  changes);
    } else if (state < 0 && virDomainIsPersistent(domain) == 1) {
        watch_log(WATCH_ERROR, "domain '%s' was not wired: %s%s%s",
                  virDomainGetName(domain), failure->message, failure->hint ? "; " : "",
                  failure->hint ? failure->hint : "");
    } else if (state == DEFINITION_WAS_WIRED && recent && recent->is_new &&
               watched->definitions > 1) {
        /* One of these events was that of the wiring; if another definition came just
         * before it, the wiring has replaced it. */
        watch_log(WATCH_ERROR,
                  "domain '%s' was defined by somebody else while it was being wired; if "
                  "their change is missing, define it again",
                  virDomainGetName(domain));
    }
    if (recent)
        recent->is_new = false;
    if (state == DEFINITION_WIRED || (state < 0 && wiring.change_count > 0))
        count_wiring(watch, domain, watched->uuid);
    if (domain)
        virDomainFree(domain);
    return state == DEFINITION_WIRED;
}

static void
end_list(struct watch *watch)
{
    const size_t count = watch->listed.count;
    cleanup_free char *status =
        xasprintf("STATUS=Watching; %zu definitions were there", count);

    watch_log(WATCH_INFO, "looked at %zu definitions in %ld ms, and wired %zu", count,
              (long)(clock_milliseconds() - watch->listed_since), watch->wired);
    service_notify(status);
    free(watch->listed.list);
    watch->listed = (struct watched_list){0};
}

static void
handle_timer(int timer, void *data)
{
    struct watch *watch = data;
    struct watched *first = watch->changed.list;
    int64_t rest;

    for (size_t i = 1; i < watch->changed.count; i++) {
        if (watch->changed.list[i].due < first->due)
            first = &watch->changed.list[i];
    }
    rest = watch->changed.count > 0 ? first->due - clock_milliseconds() : -1;
    if (watch->connection && watch->changed.count > 0 && rest <= 0) {
        const struct watched watched = *first;

        *first = watch->changed.list[--watch->changed.count];
        virEventUpdateTimeout(timer, 0);
        wire(watch, &watched);
    } else if (watch->connection && watch->next < watch->listed.count) {
        virEventUpdateTimeout(timer, 0);
        watch->wired += wire(watch, &watch->listed.list[watch->next++]);
        if (watch->next == watch->listed.count)
            end_list(watch);
    } else {
        virEventUpdateTimeout(timer, watch->connection ? (int)rest : -1);
    }
}

void
watch_wiring_open(struct watch *watch)
{
    watch->wiring_timer = virEventAddTimeout(-1, handle_timer, watch, NULL);
}

int
watch_wiring_list(struct watch *watch, struct failure **failure)
{
    struct watched_list *listed = &watch->listed;
    virDomainPtr *domains = NULL;
    int count;

    watch->listed_since = clock_milliseconds();
    count = virConnectListAllDomains(watch->connection, &domains,
                                     VIR_CONNECT_LIST_DOMAINS_PERSISTENT);
    if (count < 0)
        return libvirt_fail(failure, "could not list the domains");
    for (int i = 0; i < count; i++) {
        virDomainGetUUIDString(domains[i], array_add(listed->list, listed->count)->uuid);
        virDomainFree(domains[i]);
    }
    free(domains);
    watch->next = watch->wired = 0;
    if (count == 0)
        end_list(watch);
    virEventUpdateTimeout(watch->wiring_timer, 0);
    return 0;
}

void
watch_wiring_note(struct watch *watch, const char *uuid, bool is_defined)
{
    struct watched_list *changed = &watch->changed;
    struct watched *watched;
    size_t i = 0;

    while (i < changed->count && strcmp(changed->list[i].uuid, uuid) != 0)
        i++;
    watched =
        i < changed->count ? &changed->list[i] : array_add(changed->list, changed->count);
    snprintf(watched->uuid, sizeof(watched->uuid), "%s", uuid);
    watched->due = clock_milliseconds() + SETTLE_MILLISECONDS;
    watched->definitions += is_defined;
    virEventUpdateTimeout(watch->wiring_timer, 0);
}

void
watch_wiring_clear(struct watch *watch)
{
    free(watch->changed.list);
    free(watch->listed.list);
    watch->changed = watch->listed = (struct watched_list){0};
}
