/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/combine.h"
#include "seed/meta-data.h"
#include "seed/network.h"
#include "seed/nocloud.h"
#include "seed/yaml.h"

static void
add_network_config(struct seed *seed, struct request *request, struct instance_id *id)
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
    instance_id_add(id, COVER_NETWORK_CONFIG, document->path, &document->data);
}

/* meta-data comes first, and is written last: its instance-id may be of the others. */
int
nocloud_make(struct seed *seed, struct request *request, struct failure **failure)
{
    cleanup_buffer struct buffer vendor_data = {0};
    struct instance_id id;

    instance_id_begin(&id, request);
    seed->volume_id = xstrdup("cidata");
    seed_add_document(seed, "meta-data");
    if (combine_user_data(&seed_add_document(seed, "user-data")->data, request, &id,
                          failure) < 0)
        return -1;
    combine_vendor_data(&vendor_data, request, &id);
    if (vendor_data.size > 0)
        seed_add_document(seed, "vendor-data")->data = steal_buffer(&vendor_data);
    add_network_config(seed, request, &id);
    return meta_data_write_nocloud(&seed->documents[0].data, request, &id, failure);
}

char *
nocloud_instance_id(const struct seed *seed)
{
    const struct buffer *meta_data = &seed_find_document(seed, "meta-data")->data;
    struct yaml_query query = {.path = {"instance-id"}};
    cleanup_failure struct failure *failure = NULL;

    /* Of our own writing. */
    if (yaml_read(meta_data->data, meta_data->size, YAML_MAPPING, &query, 1, &failure) <
        0)
        abort();
    return query.value;
}

int
nocloud_net_make(struct seed *seed, struct request *request, struct failure **failure)
{
    if (nocloud_make(seed, request, failure) < 0)
        return -1;
    seed->served = true;
    return 0;
}
