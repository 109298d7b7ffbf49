/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is left on this host of domains that libvirt no longer has: `gc` removes it, `doctor`
 * counts it. */
#pragma once

#include <stdbool.h>

#include <libvirt/libvirt.h>

#include "store/leftovers.h"

/*
 * Calls `visit` for each leftover; `kept` is true for one that may still be wanted: what lasts
 * from one start to the next is kept for a week after the domain was last there, unless `all`.
 * The connection is to this host's own daemon. It ends where `visit` returns -1.
 */
int garbage_find(virConnectPtr connection, int root, bool all,
                 int (*visit)(void *data, const struct leftover *leftover, bool kept,
                              struct failure **failure),
                 void *data, struct failure **failure);
