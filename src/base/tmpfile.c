/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/names.h"
#include "base/tmpfile.h"

int
tmpfile_open(struct tmpfile *tmpfile, int dir, const char *target)
{
    for (int attempt = 0; attempt < 16; attempt++) {
        uint32_t random;
        char *name;
        int fd;

        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return -errno;
        name = xasprintf("%s" TEMPORARY_SUFFIX "%08x", target, random);
        fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            *tmpfile = (struct tmpfile){.fd = fd, .dir = dir, .name = name};
            return 0;
        }
        free(name);
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

int
tmpfile_publish(struct tmpfile *tmpfile, const char *target)
{
    if (renameat(tmpfile->dir, tmpfile->name, tmpfile->dir, target) < 0)
        return -errno;
    free(tmpfile->name);
    tmpfile->name = NULL;
    return 0;
}

/* link(2), unlike rename(2), replaces nothing; the file's own name goes when it is
 * closed. */
int
tmpfile_publish_new(struct tmpfile *tmpfile, const char *target)
{
    return linkat(tmpfile->dir, tmpfile->name, tmpfile->dir, target, 0) < 0 ? -errno : 0;
}

void
tmpfile_close(struct tmpfile *tmpfile)
{
    if (tmpfile->name) {
        unlinkat(tmpfile->dir, tmpfile->name, 0);
        free(tmpfile->name);
    }
    if (tmpfile->fd >= 0)
        close(tmpfile->fd);
    *tmpfile = TMPFILE_NONE;
}
