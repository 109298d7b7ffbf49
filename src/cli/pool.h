/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory of a storage pool of libvirt's, in which `virt-seed new` keeps images, and
 * makes disks. */
#pragma once

#include <libvirt/libvirt.h>

#include "cli/cli.h"

#define POOL_DEFAULT "default"

struct pool {
    virStoragePoolPtr libvirt;
    char *path;
    int directory; /* its descriptor */
};

#define POOL_NONE ((struct pool){.directory = -1})

/* Opens the pool of that name, which must be a directory, and starts it if it is not
 * active. As virt-install does, it makes the default one if there is none, unless `dry`,
 * which then only finds out its path. */
int pool_open(struct pool *pool, virConnectPtr connection, const char *name, bool dry,
              struct failure **failure);

void pool_close(struct pool *pool);

#define cleanup_pool __attribute__((cleanup(pool_close)))

/* Removes what killed commands have left in the directories of the pools, and that the
 * caller may remove, and says so; with --dry-run, says what it would remove. */
void pool_remove_abandoned(virConnectPtr connection, const struct context *context);
