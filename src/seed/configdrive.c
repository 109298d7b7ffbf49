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
add_meta_data(struct seed *seed, struct request *request, struct failure **failure)
{
    struct document *document = seed_add_document(seed, LATEST "meta_data.json");

    return meta_data_write_configdrive(&document->data, request, failure);
}

static int
add_user_data(struct seed *seed, struct request *request, struct failure **failure)
{
    cleanup_buffer struct buffer data = {0};

    if (combine_user_data(&data, request, failure) < 0)
        return -1;
    if (data.size > 0)
        seed_add_document(seed, LATEST "user_data")->data = steal_buffer(&data);
    return 0;
}

/* cloud-init takes the text from the key "cloud-init" (sources/__init__.py,
 * convert_vendordata); JSON holds text only. */
static int
add_vendor_data(struct seed *seed, struct request *request, struct failure **failure)
{
    cleanup_buffer struct buffer data = {0};
    cleanup_json json_t *object = NULL;
    cleanup_free char *text = NULL;

    combine_vendor_data(&data, request);
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
add_network_data(struct seed *seed, struct request *request, struct failure **failure)
{
    struct part *part = parts_find(&request->parts, PART_NETWORK_CONFIG);
    const struct network *network = request->network;
    struct document *document;

    if (network && network->eni) {
        document = seed_add_document(seed, "openstack/" CONFIGDRIVE_NETWORK_CONTENT);
        return network_write_eni(&document->data, network, failure);
    }
    if (network) {
        document = seed_add_document(seed, LATEST "network_data.json");
        return network_write_openstack(&document->data, network, failure);
    }
    if (part && part->data.size > 0) {
        document = seed_add_document(seed, LATEST "network_data.json");
        document->data = steal_buffer(&part->data);
    }
    return 0;
}

static void
add_files(struct seed *seed, struct initialization *initialization)
{
    for (size_t i = 0; initialization && i < initialization->file_count; i++) {
        cleanup_free char *path = xasprintf("openstack/" CONFIGDRIVE_FILE_CONTENT, i + 1);

        seed_add_document(seed, path)->data =
            steal_buffer(&initialization->files[i].content->data);
    }
}

int
configdrive_make(struct seed *seed, struct request *request, struct failure **failure)
{
    seed->volume_id = xstrdup("config-2");
    if (add_meta_data(seed, request, failure) < 0 ||
        add_user_data(seed, request, failure) < 0 ||
        add_vendor_data(seed, request, failure) < 0 ||
        add_network_data(seed, request, failure) < 0)
        return -1;
    add_files(seed, request->initialization);
    return 0;
}
