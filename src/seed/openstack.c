/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <jansson.h>

#include "base/cleanup.h"
#include "seed/instance-id.h"
#include "seed/json.h"
#include "seed/meta-data.h"
#include "seed/network.h"
#include "seed/nocloud.h"
#include "seed/openstack.h"

#define LATEST "openstack/latest/"

/* Adding a document moves the others: `from` is looked up each time. */
static void
add_copy(struct seed *seed, const char *from, const char *to)
{
    const struct document *original = seed_find_document(seed, from);
    cleanup_buffer struct buffer data = {0};

    if (!original || original->data.size == 0)
        return;
    buffer_append(&data, original->data.data, original->data.size);
    seed_add_document(seed, to)->data = steal_buffer(&data);
}

static void
add_vendor_data(struct seed *seed)
{
    const struct document *original = seed_find_document(seed, "vendor-data");
    cleanup_json json_t *object = NULL;
    cleanup_free char *text = NULL;

    if (!original || original->data.size == 0)
        return;
    object = json_pack("{s:o*}", "cloud-init",
                       json_stringn(original->data.data, original->data.size));
    if (!object || json_object_size(object) == 0)
        return;
    text = json_text(object);
    buffer_append_string(&seed_add_document(seed, LATEST "vendor_data.json")->data, text);
}

static void
add_network_data(struct seed *seed, const struct network *network)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer data = {0};

    if (!network || network_write_openstack(&data, network, &failure) < 0)
        return;
    seed_add_document(seed, LATEST "network_data.json")->data = steal_buffer(&data);
}

/* The id is what it is, however the request comes to it. */
static int
write_meta_data(struct buffer *buffer, const struct request *request,
                const struct seed *seed, struct failure **failure)
{
    cleanup_free char *instance_id = nocloud_instance_id(seed);
    struct request fixed = *request;
    struct instance_id id;

    fixed.instance_id_policy = INSTANCE_ID_FIXED;
    fixed.instance_id = instance_id;
    fixed.covers = 0;
    instance_id_begin(&id, &fixed);
    return meta_data_write_configdrive(buffer, &fixed, &id, failure);
}

int
openstack_add(struct seed *seed, const struct request *request, struct failure **failure)
{
    cleanup_buffer struct buffer meta_data = {0};

    if (write_meta_data(&meta_data, request, seed, failure) < 0)
        return -1;
    seed_add_document(seed, LATEST "meta_data.json")->data = steal_buffer(&meta_data);
    add_copy(seed, "user-data", LATEST "user_data");
    add_vendor_data(seed);
    add_network_data(seed, request->network);
    return 0;
}
