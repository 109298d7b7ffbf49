/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/digest.h"
#include "seed/layout.h"
#include "store/record.h"

static void
add_document(struct record_boot *boot, const struct layout *layout,
             const struct volume_file *file)
{
    const struct layout_document *document =
        layout ? layout_find_document(layout, file->path) : NULL;

    boot->documents[boot->document_count++] = (struct record_document){
        .path = xstrdup(file->path),
        .digest = digest_make(&file->data),
    };
    if (document && !boot->instance_id)
        boot->instance_id =
            layout_instance_id(document, file->data.data, file->data.size);
}

void
record_boot_add_volume(struct record_boot *boot, const struct volume *volume)
{
    const struct layout *layout = layout_find(volume->label);

    boot->label = xstrdup(volume->label);
    boot->datasource = layout ? xstrdup(layout->datasource) : NULL;
    boot->documents = xcalloc(volume->file_count, sizeof(*boot->documents));
    for (size_t i = 0; i < volume->file_count; i++) {
        if (volume->files[i].read)
            add_document(boot, layout, &volume->files[i]);
    }
}

void
record_boot_add_served(struct record_boot *boot, const struct volume *volume)
{
    record_boot_add_volume(boot, volume);
    free(steal(boot->label));
    free(boot->datasource);
    boot->datasource = xstrdup("nocloud-net");
}
