/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/tmpfile.h"
#include "image/iso.h"

static int
fail_different(struct failure **failure, const char *what)
{
    return failure_set(failure, FAILURE_IMAGE,
                       "the image reads back differently from what was written: %s\n"
                       "look for errors of the disk or the memory in the kernel's log; "
                       "the seed was not put in place",
                       what);
}

int
iso_verify(int fd, const struct seed *seed, struct failure **failure)
{
    cleanup_seed struct seed image = {0};

    if (iso_read(fd, &image, failure) < 0)
        return failure_prefix(failure, "the image that was written");
    if (strcmp(image.volume_id, seed->volume_id) != 0)
        return fail_different(failure, "label");
    if (image.document_count != seed->document_count)
        return fail_different(failure, "number of documents");
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *document = &seed->documents[i];
        const struct document *found = seed_find_document(&image, document->path);

        if (!found || found->unread || !document_is_same(found, document))
            return fail_different(failure, document->path);
    }
    return 0;
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
        iso_verify(tmpfile.fd, seed, failure) < 0)
        return failure_prefix(failure, "%s", name);
    if (owner->uid != (uid_t)-1 && fchown(tmpfile.fd, owner->uid, owner->gid) < 0) {
        failure_set_errno(failure, FAILURE_SYSTEM, errno,
                          "could not give the image to user %ld", (long)owner->uid);
        return failure_prefix(failure, "%s", name);
    }
    error = tmpfile_publish(&tmpfile, name);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not name '%s'",
                                 name);
    return 0;
}
