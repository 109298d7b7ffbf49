/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NoCloud (https://docs.cloud-init.io/en/latest/reference/datasources/nocloud.html): the
 * label "cidata"; meta-data and user-data, which it requires even if they are empty; and
 * vendor-data and network-config if they have content. NoCloud without a disk has the
 * same documents.
 */
#include "config.h"

#include "seed/layout.h"
#include "seed/writers.h"

static int
make(struct seed *seed, struct request *request, struct failure **failure)
{
    cleanup_buffer struct buffer vendor_data = {0};
    struct instance_id id;

    instance_id_begin(&id, request);
    /* It comes first but is written last: its instance-id may depend on the others. */
    seed_add_document(seed, "meta-data");
    if (combine_user_data(&seed_add_document(seed, "user-data")->data, request, &id,
                          failure) < 0 ||
        combine_vendor_data(&vendor_data, request, &id, failure) < 0)
        return -1;
    if (vendor_data.size > 0)
        seed_add_document(seed, "vendor-data")->data = steal_buffer(&vendor_data);
    if (network_add(seed, "network-config", request, network_write_v2, &id, failure) < 0)
        return -1;
    return meta_data_write_nocloud(&seed->documents[0].data, request, &id, failure);
}

/* cloud-init, DataSourceNoCloud (read_fs, util.pathprefix2dict). */
static const struct layout_document documents[] = {
    {"meta-data", LAYOUT_META_DATA, true},
    {"user-data", LAYOUT_USER_DATA, true},
    {"vendor-data", LAYOUT_VENDOR_DATA, false},
    {"network-config", LAYOUT_NETWORK_CONFIG, false},
    {NULL, LAYOUT_META_DATA, false},
};

const struct layout layout_nocloud = {"nocloud", documents, make};
