/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "image/iso-read.h"
#include "image/iso.h"

static int
fail_different(struct failure **failure, const char *what)
{
    failure_set(failure, FAILURE_IMAGE,
                "the image reads back differently from what was written: %s", what);
    return failure_hint(failure,
                        "look for errors of the disk or the memory in the kernel's "
                        "log; the seed was not put in place");
}

static int
compare_document(const struct volume *volume, const struct document *document,
                 struct failure **failure)
{
    const struct volume_file *file = volume_find(volume, document->path);

    if (!file || !file->read || file->data.size != document->data.size ||
        (file->data.size > 0 &&
         memcmp(file->data.data, document->data.data, file->data.size) != 0))
        return fail_different(failure, document->path);
    return 0;
}

int
iso_verify(int fd, const struct seed *seed, struct failure **failure)
{
    cleanup_volume struct volume volume = {0};

    if (iso_read(fd, &volume, failure) < 0)
        return failure_prefix(failure, "the image that was written");
    if (strcmp(volume.label, seed->volume_id) != 0)
        return fail_different(failure, "label");
    if (volume.file_count != seed->document_count)
        return fail_different(failure, "number of documents");
    for (size_t i = 0; i < seed->document_count; i++) {
        if (compare_document(&volume, &seed->documents[i], failure) < 0)
            return -1;
    }
    return 0;
}
