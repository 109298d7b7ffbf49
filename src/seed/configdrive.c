/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/combine.h"
#include "seed/datasource.h"
#include "seed/instance-id.h"
#include "seed/json.h"
#include "seed/meta-data.h"
#include "seed/network.h"
#include "seed/seed.h"

#define LATEST "openstack/latest/"

static int
add_user_data(struct seed *seed, struct request *request, struct instance_id *id,
              struct failure **failure)
{
    cleanup_buffer struct buffer data = {0};

    if (combine_user_data(&data, request, id, failure) < 0)
        return -1;
    if (data.size > 0)
        seed_add_document(seed, LATEST "user_data")->data = steal_buffer(&data);
    return 0;
}

/* cloud-init takes the text from the key "cloud-init" (sources/__init__.py,
 * convert_vendordata); JSON holds text only. */
static int
add_vendor_data(struct seed *seed, struct request *request, struct instance_id *id,
                struct failure **failure)
{
    cleanup_buffer struct buffer data = {0};
    cleanup_json json_t *object = NULL;
    cleanup_free char *text = NULL;

    combine_vendor_data(&data, request, id);
    if (data.size == 0)
        return 0;
    object = json_pack("{s:o*}", "cloud-init", json_stringn(data.data, data.size));
    if (!object || json_object_size(object) == 0) {
        failure_set(failure, FAILURE_USER_DATA,
                    "<vendor-data> is no text, and a ConfigDrive's can be nothing else");
        return failure_hint(failure, "decompress it, or use datasource=\"nocloud\"");
    }
    text = json_text(object);
    buffer_append_string(&seed_add_document(seed, LATEST "vendor_data.json")->data, text);
    return 0;
}

static int
write_network(struct seed *seed, const struct network *network, struct failure **failure)
{
    if (network->eni)
        return network_write_eni(
            &seed_add_document(seed, "openstack/" CONFIGDRIVE_NETWORK_CONTENT)->data,
            network, failure);
    return network_write_openstack(
        &seed_add_document(seed, LATEST "network_data.json")->data, network, failure);
}

static int
add_network_data(struct seed *seed, struct request *request, struct instance_id *id,
                 struct failure **failure)
{
    struct part *part = parts_find(&request->parts, PART_NETWORK_CONFIG);
    const struct document *document;

    if (!request->network && (!part || part->data.size == 0))
        return 0;
    if (!request->network)
        seed_add_document(seed, LATEST "network_data.json")->data =
            steal_buffer(&part->data);
    else if (write_network(seed, request->network, failure) < 0)
        return -1;
    document = &seed->documents[seed->document_count - 1];
    instance_id_add(id, COVER_NETWORK_CONFIG, document->path, &document->data);
    return 0;
}

/* To the instance-id they are a kind of user-data, by their names in the guest, as
 * NoCloud's write_files is. */
static void
add_files(struct seed *seed, struct initialization *initialization,
          struct instance_id *id)
{
    for (size_t i = 0; initialization && i < initialization->file_count; i++) {
        cleanup_free char *path = xasprintf("openstack/" CONFIGDRIVE_FILE_CONTENT, i + 1);
        const struct initialization_file *file = &initialization->files[i];

        instance_id_add(id, COVER_USER_DATA, file->path, &file->content->data);
        seed_add_document(seed, path)->data = steal_buffer(&file->content->data);
    }
}

/* meta_data.json comes first, and is written last: the instance-id may depend on the
 * others. */
int
configdrive_make(struct seed *seed, struct request *request, struct failure **failure)
{
    struct instance_id id;

    instance_id_begin(&id, request);
    seed->volume_id = xstrdup("config-2");
    seed_add_document(seed, LATEST "meta_data.json");
    if (add_user_data(seed, request, &id, failure) < 0 ||
        add_vendor_data(seed, request, &id, failure) < 0 ||
        add_network_data(seed, request, &id, failure) < 0)
        return -1;
    add_files(seed, request->initialization, &id);
    return meta_data_write_configdrive(&seed->documents[0].data, request, &id, failure);
}

/* --- the same documents for the metadata server ------------------------------------- */

/* Adding a document moves the others: `from` is looked up each time. */
static void
copy_document(struct seed *seed, const char *from, const char *to)
{
    const struct document *original = seed_find_document(seed, from);
    cleanup_buffer struct buffer data = {0};

    if (!original || original->data.size == 0)
        return;
    buffer_append(&data, original->data.data, original->data.size);
    seed_add_document(seed, to)->data = steal_buffer(&data);
}

static void
copy_vendor_data(struct seed *seed)
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
copy_network_data(struct seed *seed, const struct network *network)
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
    copy_document(seed, "user-data", LATEST "user_data");
    copy_vendor_data(seed);
    copy_network_data(seed, request->network);
    return 0;
}
