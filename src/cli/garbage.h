/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is left on this host of domains that no longer exist: `gc` removes it (cmd-gc.c),
 * `doctor` counts it. */
#pragma once

#include <stdbool.h>

#include <libvirt/libvirt.h>

#include "store/leftovers.h"

/*
 * Calls `visit` for each leftover, until it returns -1. `kept` says that the leftover may
 * still be needed: what lasts from one start to the next is kept for a week after the
 * domain was last used, unless `all`. The connection is to this host's own daemon.
 */
int garbage_find(virConnectPtr connection, int root, bool all,
                 int (*visit)(void *data, const struct leftover *leftover, bool kept,
                              struct failure **failure),
                 void *data, struct failure **failure);
