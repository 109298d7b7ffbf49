/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the files are listed first, and libvirt is asked for each domain right
 * before its files are removed. So if a domain is created meanwhile, either its files are
 * not in the list, or libvirt knows it. libvirt is asked for each UUID, because a list
 * omits the domains that the caller may not see.
 *
 * A transient domain is unknown whenever it does not run, and some domains are undefined
 * only to be defined again. So what lasts from one start to the next is kept for a week.
 */
#include "config.h"

#include <string.h>
#include <time.h>

#include <libvirt/virterror.h>

#include "cli/garbage.h"
#include "cli/libvirt.h"

#define DAY (24L * 60 * 60)
#define KEPT_DAYS 7

int
garbage_find(virConnectPtr connection, int root, bool all,
             int (*visit)(void *data, const struct leftover *leftover, bool kept,
                          struct failure **failure),
             void *data, struct failure **failure)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    time_t now = time(NULL);
    size_t end;

    if (leftovers_find(root, &leftovers, failure) < 0)
        return -1;
    /* The list is sorted: what is one domain's is together. */
    for (size_t start = 0; start < leftovers.count; start = end) {
        const char *uuid = leftovers.list[start].uuid;
        virDomainPtr domain = virDomainLookupByUUIDString(connection, uuid);
        bool recent = false;

        for (end = start;
             end < leftovers.count && strcmp(leftovers.list[end].uuid, uuid) == 0; end++)
            recent = recent || now - leftovers.list[end].changed < KEPT_DAYS * DAY;
        if (domain) {
            virDomainFree(domain);
            continue;
        }
        if (virGetLastErrorCode() != VIR_ERR_NO_DOMAIN)
            return libvirt_fail(failure, "could not ask libvirt for domain %s", uuid);
        for (size_t i = start; i < end; i++) {
            const struct leftover *leftover = &leftovers.list[i];

            if (visit(data, leftover, !all && recent && leftover->lasting, failure) < 0)
                return -1;
        }
    }
    return 0;
}
