/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <blkid.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "domain/domain.h"
#include "image/image.h"

static void
probe_pointer(blkid_probe *probe)
{
    blkid_free_probe(*probe);
}

/* Return: the value, owned by the caller (free), or NULL. */
static char *
lookup(blkid_probe probe, const char *name)
{
    const char *value = NULL;

    if (blkid_probe_lookup_value(probe, name, &value, NULL) < 0)
        return NULL;
    return xstrdup(value);
}

char *
label_read(int fd, char **type)
{
    char *types[] = {(char *)"iso9660", (char *)"vfat", NULL};
    __attribute__((cleanup(probe_pointer))) blkid_probe probe = blkid_new_probe();

    if (type)
        *type = NULL;
    if (!probe || blkid_probe_set_device(probe, fd, 0, 0) < 0)
        return NULL;
    blkid_probe_enable_superblocks(probe, 1);
    blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_LABEL | BLKID_SUBLKS_TYPE);
    blkid_probe_filter_superblocks_type(probe, BLKID_FLTR_ONLYIN, types);
    if (blkid_do_safeprobe(probe) != 0)
        return NULL;
    if (type)
        *type = lookup(probe, "TYPE");
    return lookup(probe, "LABEL");
}

void
label_read_disks(struct domain *domain)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        struct disk *disk = &domain->disks[i];
        cleanup_close int found = -1; /* O_PATH */
        cleanup_close int fd = -1;
        cleanup_free char *path = NULL;
        struct stat status;

        if (!disk_may_have_label(disk))
            continue;
        /* Opening a device or a FIFO has effects, so the type is checked first, with a
         * descriptor that does not open the file. */
        found = open(disk->source, O_PATH | O_CLOEXEC);
        if (found < 0 || fstat(found, &status) < 0 || !S_ISREG(status.st_mode))
            continue;
        path = xasprintf("/proc/self/fd/%d", found);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0)
            disk->label = label_read(fd, NULL);
    }
}
