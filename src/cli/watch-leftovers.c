/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: some undefine a domain to define it again, so what is kept of it, such as
 * its host key, stays for a moment. Then libvirt is asked whether the domain is really
 * gone.
 *
 * A domain that was migrated belongs to another host, and may come back: `virt-seed gc`
 * keeps for a week what this host has of it, so that it is not removed here if it is
 * undefined.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libvirt/virterror.h>

#include "base/memory.h"
#include "cli/watch.h"
#include "store/leftovers.h"

#define UNDEFINED_MILLISECONDS 5000
#define MIGRATED_MILLISECONDS (7 * 24 * 60 * 60 * 1000)

/* A domain that was undefined or migrated. */
struct gone {
    struct watch *watch;
    char uuid[VIR_UUID_STRING_BUFLEN];
    bool is_migrated;
    int timer;
};

static void
remove_leftovers(const struct watch *watch, const char *uuid)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    cleanup_failure struct failure *failure = NULL;
    int root = watch->context->root;
    size_t removed = 0;

    if (leftovers_find(root, &leftovers, &failure) == 0) {
        for (size_t i = 0; i < leftovers.count && !failure; i++) {
            if (strcmp(leftovers.list[i].uuid, uuid) == 0 &&
                leftover_remove(root, &leftovers.list[i], &failure) == 0)
                removed++;
        }
    }
    if (failure)
        watch_log(WATCH_ERROR, "what is left of domain %s was not removed: %s", uuid,
                  failure->message);
    else if (removed > 0)
        watch_log(WATCH_NOTICE, "domain %s was undefined: removed what was kept of it",
                  uuid);
}

static void
forget(struct gone *gone)
{
    struct watch *watch = gone->watch;
    size_t i = 0;

    while (watch->gone[i] != gone)
        i++;
    watch->gone[i] = watch->gone[--watch->gone_count];
    virEventRemoveTimeout(gone->timer);
    free(gone);
}

/* If the domain still runs, its end sets the timer again. One that was defined again
 * keeps everything. */
static void
handle_timer(int timer, void *data)
{
    struct gone *gone = data;
    const struct watch *watch = gone->watch;
    virDomainPtr domain;
    bool is_unknown, is_defined;

    if (gone->is_migrated) {
        forget(gone);
        return;
    }
    if (!watch->connection)
        return;
    domain = virDomainLookupByUUIDString(watch->connection, gone->uuid);
    is_unknown = !domain && virGetLastErrorCode() == VIR_ERR_NO_DOMAIN;
    is_defined = domain && virDomainIsPersistent(domain) == 1;
    /* If libvirt could not answer, it is asked again. */
    if (domain || is_unknown)
        virEventUpdateTimeout(timer, -1);
    if (domain)
        virDomainFree(domain);
    if (is_unknown)
        remove_leftovers(watch, gone->uuid);
    if (is_unknown || is_defined)
        forget(gone);
}

static struct gone *
find_gone(const struct watch *watch, const char *uuid)
{
    for (size_t i = 0; i < watch->gone_count; i++) {
        if (strcmp(watch->gone[i]->uuid, uuid) == 0)
            return watch->gone[i];
    }
    return NULL;
}

/* Return: the domain's entry, which may have been there before. */
static struct gone *
add_gone(struct watch *watch, const char *uuid)
{
    struct gone *gone = find_gone(watch, uuid);

    if (gone)
        return gone;
    gone = xcalloc(1, sizeof(*gone));
    gone->watch = watch;
    snprintf(gone->uuid, sizeof(gone->uuid), "%s", uuid);
    gone->timer = virEventAddTimeout(-1, handle_timer, gone, NULL);
    *array_add(watch->gone, watch->gone_count) = gone;
    return gone;
}

void
watch_leftovers_note_undefined(struct watch *watch, const char *uuid)
{
    struct gone *gone = add_gone(watch, uuid);

    if (!gone->is_migrated)
        virEventUpdateTimeout(gone->timer, UNDEFINED_MILLISECONDS);
}

void
watch_leftovers_note_stopped(struct watch *watch, const char *uuid, int detail)
{
    struct gone *gone = find_gone(watch, uuid);

    if (detail == VIR_DOMAIN_EVENT_STOPPED_MIGRATED) {
        gone = add_gone(watch, uuid);
        gone->is_migrated = true;
        virEventUpdateTimeout(gone->timer, MIGRATED_MILLISECONDS);
    } else if (gone && !gone->is_migrated) {
        virEventUpdateTimeout(gone->timer, UNDEFINED_MILLISECONDS);
    }
}

void
watch_leftovers_note_here(struct watch *watch, const char *uuid)
{
    struct gone *gone = find_gone(watch, uuid);

    if (gone && gone->is_migrated)
        forget(gone);
}

void
watch_leftovers_clear(struct watch *watch)
{
    while (watch->gone_count > 0)
        forget(watch->gone[0]);
    free(watch->gone);
}
