/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the files are looked for first, and libvirt is asked for each domain right
 * before what is its own is removed: so what a domain brings along that is made meanwhile is
 * not seen, or is known. A domain that is asked for by its UUID is there, is not there, or
 * may not be seen; a list would leave the last ones out.
 *
 * A transient domain is unknown whenever it does not run, and one is often undefined to be
 * defined anew. So what lasts from one start to the next is kept for a week after the last.
 */
#include "config.h"

#include <string.h>
#include <time.h>

#include <libvirt/virterror.h>

#include "cli/garbage.h"
#include "cli/libvirt.h"

#define DAY (24L * 60 * 60)
#define KEPT_DAYS 7

struct search {
    virConnectPtr connection;
    bool all;
    int (*visit)(void *data, const struct leftover *leftover, bool kept,
                 struct failure **failure);
    void *data;
};

/* Return: 1 where libvirt has the domain, 0 where it has not, -1 where it does not say. */
static int
is_known(virConnectPtr connection, const char *uuid, struct failure **failure)
{
    virDomainPtr domain = virDomainLookupByUUIDString(connection, uuid);

    if (domain) {
        virDomainFree(domain);
        return 1;
    }
    return virGetLastErrorCode() == VIR_ERR_NO_DOMAIN
               ? 0
               : libvirt_fail(failure, "could not ask libvirt for domain %s", uuid);
}

/* Visits all that is one domain's. */
static int
visit_domain(const struct search *search, const struct leftover *list, size_t count,
             struct failure **failure)
{
    int known = is_known(search->connection, list[0].uuid, failure);
    time_t now = time(NULL);
    bool recent = false;

    if (known != 0)
        return known < 0 ? -1 : 0;
    for (size_t i = 0; i < count && !search->all; i++)
        recent = recent || now - list[i].changed < KEPT_DAYS * DAY;
    for (size_t i = 0; i < count; i++) {
        if (search->visit(search->data, &list[i], recent && list[i].lasting, failure) < 0)
            return -1;
    }
    return 0;
}

int
garbage_find(virConnectPtr connection, int root, bool all,
             int (*visit)(void *data, const struct leftover *leftover, bool kept,
                          struct failure **failure),
             void *data, struct failure **failure)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    const struct search search = {
        .connection = connection, .all = all, .visit = visit, .data = data};
    size_t end;

    if (leftovers_find(root, &leftovers, failure) < 0)
        return -1;
    for (size_t start = 0; start < leftovers.count; start = end) {
        const struct leftover *first = &leftovers.list[start];

        for (end = start + 1; end < leftovers.count; end++) {
            if (strcmp(leftovers.list[end].uuid, first->uuid) != 0)
                break;
        }
        if (visit_domain(&search, first, end - start, failure) < 0)
            return -1;
    }
    return 0;
}
