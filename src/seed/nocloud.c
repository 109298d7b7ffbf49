/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/combine.h"
#include "seed/meta-data.h"
#include "seed/network.h"
#include "seed/nocloud.h"

static void
add_network_config(struct seed *seed, struct request *request)
{
    struct part *part = parts_find(&request->parts, PART_NETWORK_CONFIG);
    struct document *document;

    if (!request->network && (!part || part->data.size == 0))
        return;
    document = seed_add_document(seed, "network-config");
    if (request->network)
        network_write_v2(&document->data, request->network);
    else
        document->data = steal_buffer(&part->data);
}

int
nocloud_make(struct seed *seed, struct request *request, struct failure **failure)
{
    cleanup_buffer struct buffer vendor_data = {0};

    seed->volume_id = xstrdup("cidata");
    if (meta_data_write_nocloud(&seed_add_document(seed, "meta-data")->data, request,
                                failure) < 0 ||
        combine_user_data(&seed_add_document(seed, "user-data")->data, request, failure) <
            0)
        return -1;
    combine_vendor_data(&vendor_data, request);
    if (vendor_data.size > 0)
        seed_add_document(seed, "vendor-data")->data = steal_buffer(&vendor_data);
    add_network_config(seed, request);
    return 0;
}
