/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "domain/seed-path.h"

char *
seed_path(const char *uuid)
{
    return xasprintf("%s/%s.iso", VIRT_SEED_RUNDIR, uuid);
}

bool
seed_path_is(const char *path)
{
    size_t length = strlen(VIRT_SEED_RUNDIR);

    return strncmp(path, VIRT_SEED_RUNDIR, length) == 0 && path[length] == '/';
}

const struct disk *
seed_path_find_disk(const struct domain *domain)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        if (domain->disks[i].source && seed_path_is(domain->disks[i].source))
            return &domain->disks[i];
    }
    return NULL;
}
