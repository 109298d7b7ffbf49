/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/meta-data.h"
#include "seed/nocloud.h"

static void
add_part(struct seed *seed, struct part *part)
{
    struct document *document = seed_add_document(seed, part_kind_name(part->kind));

    document->data = steal_buffer(&part->data);
    if (part->origin == PART_SECRET)
        document->secret = xasprintf("%s/%s", part->name, part->key);
}

int
nocloud_make(struct seed *seed, const struct domain *domain, struct request *request,
             struct failure **failure)
{
    struct document *meta_data;

    seed->volume_id = "cidata";
    meta_data = seed_add_document(seed, "meta-data");
    if (meta_data_write_nocloud(&meta_data->data, domain, request, failure) < 0)
        return -1;
    for (enum part_kind kind = PART_USER_DATA; kind < PART_KINDS; kind++) {
        if (kind == PART_USER_DATA || request->parts[kind].data.size > 0)
            add_part(seed, &request->parts[kind]);
    }
    return 0;
}
