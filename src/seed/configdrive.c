/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/combine.h"
#include "seed/configdrive.h"
#include "seed/json.h"
#include "seed/meta-data.h"
#include "seed/network.h"

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
