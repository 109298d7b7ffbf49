/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ConfigDrive, version 2: OpenStack's "config drive" as cloud-init
 * (sources/DataSourceConfigDrive.py, helpers/openstack.py) and cloudbase-init read it.
 * Only openstack/latest is written: every reader takes it if there is no dated directory.
 */
#include "config.h"

#include "base/json.h"
#include "seed/layout.h"
#include "seed/writers.h"

#define LATEST "openstack/latest/"

/* cloud-init takes the text from the key "cloud-init" (sources/__init__.py,
 * convert_vendordata). Return: whether the data are text, as JSON requires. */
static bool
add_vendor_data(struct seed *seed, const struct buffer *data)
{
    cleanup_json json_t *object =
        json_pack("{s:o*}", "cloud-init", json_stringn(data->data, data->size));

    if (!object || json_object_size(object) == 0)
        return false;
    json_append(&seed_add_document(seed, LATEST "vendor_data.json")->data, object);
    return true;
}

static int
make(struct seed *seed, struct request *request, struct failure **failure)
{
    struct initialization *initialization = request->initialization;
    cleanup_buffer struct buffer user_data = {0};
    cleanup_buffer struct buffer vendor_data = {0};
    struct instance_id id;

    instance_id_begin(&id, request);
    /* It comes first but is written last: the instance-id may depend on the others. */
    seed_add_document(seed, LATEST "meta_data.json");
    if (combine_user_data(&user_data, request, &id, failure) < 0)
        return -1;
    if (user_data.size > 0)
        seed_add_document(seed, LATEST "user_data")->data = steal_buffer(&user_data);
    if (combine_vendor_data(&vendor_data, request, &id, failure) < 0)
        return -1;
    if (vendor_data.size > 0 && !add_vendor_data(seed, &vendor_data))
        return failure_set(failure, FAILURE_USER_DATA,
                           "<vendor-data> is not text, but a ConfigDrive can only "
                           "contain text\n"
                           "decompress it, or use datasource=\"nocloud\"");
    if (network_add(seed, LATEST "network_data.json", request, network_write_openstack,
                    &id, failure) < 0)
        return -1;
    /* The instance-id covers files as user-data, by their names in the guest, just like
     * NoCloud's write_files. */
    for (size_t i = 0; initialization && i < initialization->file_count; i++) {
        cleanup_free char *path = xasprintf("openstack/" CONFIGDRIVE_FILE_CONTENT, i + 1);
        const struct initialization_file *file = &initialization->files[i];

        instance_id_add(&id, COVER_USER_DATA, file->path, &file->content->data);
        seed_add_document(seed, path)->data = steal_buffer(&file->content->data);
    }
    return meta_data_write_configdrive(&seed->documents[0].data, request, &id, failure);
}

/* cloud-init, sources/helpers/openstack.py (ConfigDriveReader). */
static const struct layout_document documents[] = {
    {LATEST "meta_data.json", LAYOUT_META_DATA_JSON, true},
    {LATEST "user_data", LAYOUT_USER_DATA, false},
    {LATEST "vendor_data.json", LAYOUT_VENDOR_DATA_JSON, false},
    {LATEST "vendor_data2.json", LAYOUT_VENDOR_DATA_JSON, false},
    {LATEST "network_data.json", LAYOUT_NETWORK_DATA_JSON, false},
    {NULL, LAYOUT_META_DATA, false},
};

const struct layout layout_configdrive = {"configdrive", documents, make};
