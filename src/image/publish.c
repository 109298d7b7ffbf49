/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "base/tmpfile.h"
#include "image/iso.h"
#include "image/publish.h"

static int
give_to(int fd, const struct image_owner *owner, struct failure **failure)
{
    if (owner->uid == (uid_t)-1 || fchown(fd, owner->uid, owner->gid) == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                             "could not give the image to user %ld", (long)owner->uid);
}

int
image_publish(int dir, const char *name, const struct image_owner *owner,
              const struct seed *seed, struct failure **failure)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    int error = tmpfile_open(&tmpfile, dir, name);

    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not make a file for '%s'", name);
    if (iso_write(tmpfile.fd, seed, failure) < 0 ||
        iso_verify(tmpfile.fd, seed, failure) < 0 ||
        give_to(tmpfile.fd, owner, failure) < 0)
        return failure_prefix(failure, "%s", name);
    error = tmpfile_publish(&tmpfile, name);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not name '%s'",
                                 name);
    return 0;
}
