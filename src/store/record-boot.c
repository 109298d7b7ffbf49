/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/digest.h"
#include "seed/layout.h"
#include "store/record.h"

void
record_boot_add_seed(struct record_boot *boot, const struct seed *seed)
{
    const struct layout *layout = layout_find(seed->volume_id);

    if (!seed->served)
        boot->label = xstrdup(seed->volume_id);
    if (seed->served || layout)
        boot->datasource = xstrdup(seed->served ? "nocloud-net" : layout->datasource);
    boot->documents = xcalloc(seed->document_count, sizeof(*boot->documents));
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *document = &seed->documents[i];
        const struct layout_document *known =
            layout ? layout_find_document(layout, document->path) : NULL;

        if (document->unread)
            continue;
        boot->documents[boot->document_count++] = (struct record_document){
            .path = xstrdup(document->path),
            .digest = digest_make(&document->data),
        };
        if (known && !boot->instance_id)
            boot->instance_id =
                layout_instance_id(known, document->data.data, document->data.size);
    }
}
