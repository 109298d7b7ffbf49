/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is left on this host of domains that no longer exist: `gc` removes it (cmd-gc.c),
 * `doctor` counts it. Nothing else removes what virt-seed keeps of a domain from one start
 * to the next.
 */
#pragma once

#include <stdbool.h>

#include <libvirt/libvirt.h>

#include "store/leftovers.h"

#define GARBAGE_KEPT_SECONDS (7L * 24 * 60 * 60)

enum garbage_fate {
    GARBAGE_REMOVED,
    GARBAGE_KEPT_SINCE_NOW, /* nobody has noticed before that the domain is gone */
    GARBAGE_KEPT_A_WEEK,    /* a week after that, or after the domain's last run */
    GARBAGE_KEPT_DONE,      /* the identity of a guest that is set up */
};

/*
 * Calls `visit` for each leftover, until it returns -1, with what is to become of it. What
 * lasts from one start to the next is kept, unless `all`: for a week after the domain was
 * noticed to be gone, which is noted if `notes`; and always if its guest is recorded as done
 * (boots="until-done"). The connection is to this host's own daemon.
 */
int garbage_find(virConnectPtr connection, int root, bool all, bool notes,
                 int (*visit)(void *data, const struct leftover *leftover,
                              enum garbage_fate fate, struct failure **failure),
                 void *data, struct failure **failure);
