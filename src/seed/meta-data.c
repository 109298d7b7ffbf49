/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <uuid.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/custom-meta-data.h"
#include "seed/devices.h"
#include "seed/instance-id.h"
#include "seed/json.h"
#include "seed/meta-data.h"
#include "seed/yaml-json.h"

/* Keys of which the generated part is the owner, whether it has a value for them or not, or
 * that have a meaning of their own for the guest. */
static const struct custom_owner nocloud_keys[] = {
    {"instance-id", "instance-id"},
    {"local-hostname", "hostname"},
    {"instance-type", "instance-type"},
    {"public-keys", "ssh-authorized-keys"},
    {"network-interfaces", "network-config"},
    /* With them the guest would read its seed elsewhere, or at another time. */
    {"seedfrom", NULL},
    {"dsmode", NULL},
    {NULL, NULL},
};

static const struct custom_owner configdrive_keys[] = {
    {"uuid", "instance-id"},
    {"instance_id", "instance-id"},
    {"hostname", "hostname"},
    {"local_hostname", "hostname"},
    {"name", "hostname"},
    {"instance_type", "instance-type"},
    {"public_keys", "ssh-authorized-keys"},
    {"admin_pass", "admin-password"},
    {"files", "initialization"},
    {"network_config", "network-config"},
    {"devices", NULL},
    /* cloud-init sets the first two itself, and expects bytes and a mapping in the others
     * (sources/helpers/openstack.py). */
    {"instance-id", "instance-id"},
    {"local-hostname", "hostname"},
    {"random_seed", NULL},
    {"meta", NULL},
    {NULL, NULL},
};

/* What the instance-id never covers: itself, the keys, and what tells of another document
 * or of the domain's devices. */
static const char *const nocloud_uncovered[] = {"instance-id", "public-keys", NULL};
static const char *const configdrive_uncovered[] = {
    "uuid", "instance_id", "public_keys", "devices", "files", "network_config", NULL,
};

/* Return: the instance-id, of which the object is the last document, owned by the caller
 * (free). */
static char *
instance_id_of(struct instance_id *id, const json_t *object, const char *const *uncovered)
{
    cleanup_json json_t *covered = NULL;

    if (instance_id_covers(id, COVER_META_DATA)) {
        covered = json_copy((json_t *)object);
        for (; *uncovered; uncovered++)
            json_object_del(covered, *uncovered);
        instance_id_add_json(id, COVER_META_DATA, "meta-data", covered);
    }
    return instance_id_end(id);
}

/* Keeps a key's place among the others, until its value is known. */
static void
reserve(json_t *object, const char *key)
{
    json_must(json_object_set_new(object, key, json_null()));
}

/* --- public keys -------------------------------------------------------------------- */

static void
add_lines(json_t *list, const struct buffer *data)
{
    cleanup_free char *text = xstrndup(data->size > 0 ? data->data : "", data->size);
    char *rest = text;

    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        line[strcspn(line, "\r")] = '\0';
        line += strspn(line, " \t");
        if (*line && *line != '#')
            json_must(json_array_append_new(list, json_outside_string(line)));
    }
}

/* Return: every key, in the order of the request. */
static json_t *
public_keys(const struct request *request)
{
    json_t *list = json_array();

    for (size_t i = 0; i < request->ssh_key_count; i++)
        json_must(json_array_append_new(list, json_string(request->ssh_keys[i])));
    for (const struct part *part = parts_find(&request->parts, PART_SSH_KEYS); part;
         part = parts_next(&request->parts, part)) {
        add_lines(list, &part->data);
        for (size_t i = 0; i < part->entry_count; i++)
            add_lines(list, &part->entries[i].data);
    }
    return list;
}

/* OpenStack has a mapping of names, and cloudbase-init reads nothing else. */
static json_t *
name_keys(const json_t *list)
{
    json_t *object = json_object();
    size_t index;
    json_t *key;

    json_array_foreach((json_t *)list, index, key)
    {
        cleanup_free char *name = xasprintf("%zu", index);

        json_must(json_object_set(object, name, key));
    }
    return object;
}

/* --- NoCloud ------------------------------------------------------------------------ */

/* A list is the one shape that all readers of NoCloud share. */
int
meta_data_write_nocloud(struct buffer *buffer, const struct request *request,
                        struct instance_id *id, struct failure **failure)
{
    cleanup_json json_t *object = json_object();
    cleanup_json json_t *keys = public_keys(request);
    cleanup_free char *hostname = request_hostname(request);
    cleanup_free char *instance_id = NULL;

    reserve(object, "instance-id");
    json_set_string(object, "local-hostname", hostname);
    if (request->instance_type)
        json_set_string(object, "instance-type", request->instance_type);
    if (json_array_size(keys) > 0)
        json_must(json_object_set(object, "public-keys", keys));
    if (custom_meta_data_add(object, request, nocloud_keys, failure) < 0)
        return -1;
    instance_id = instance_id_of(id, object, nocloud_uncovered);
    json_set_string(object, "instance-id", instance_id);
    yaml_text_append(buffer, object);
    return 0;
}

/* --- ConfigDrive -------------------------------------------------------------------- */

static char *
derived_uuid(const char *domain_uuid, const char *instance_id)
{
    uuid_t space, uuid;
    char text[UUID_STR_LEN];

    if (strcmp(instance_id, INSTANCE_ID_MASK) == 0)
        return xstrdup(INSTANCE_ID_MASK);
    if (uuid_parse(domain_uuid, space) < 0)
        uuid_clear(space);
    uuid_generate_sha1(uuid, space, instance_id, strlen(instance_id));
    uuid_unparse_lower(uuid, text);
    return xstrdup(text);
}

static void
set_network_config(json_t *object)
{
    json_must(json_object_set_new(
        object, "network_config",
        json_pack("{s:s}", "content_path", "/" CONFIGDRIVE_NETWORK_CONTENT)));
}

static void
set_files(json_t *object, const struct initialization *initialization)
{
    json_t *files = json_array();

    for (size_t i = 0; i < initialization->file_count; i++) {
        cleanup_free char *content = xasprintf("/" CONFIGDRIVE_FILE_CONTENT, i + 1);

        json_must(json_array_append_new(files, json_pack("{s:s, s:s}", "path",
                                                         initialization->files[i].path,
                                                         "content_path", content)));
    }
    json_must(json_object_set_new(object, "files", files));
}

static void
set_admin_pass(json_t *object, const struct part *part)
{
    cleanup_free char *password = part_word(part);

    json_must(json_object_set_new(object, "admin_pass", json_outside_string(password)));
}

/* What belongs to the domain's devices; and what is referred to by a path of the drive, where
 * there is one. */
static void
set_references(json_t *object, const struct request *request)
{
    const struct part *password = parts_find(&request->parts, PART_ADMIN_PASSWORD);
    json_t *devices = devices_to_json(request->domain);

    if (devices)
        json_must(json_object_set_new(object, "devices", devices));
    if (request_is_nocloud(request))
        return;
    if (request->network && request->network->eni)
        set_network_config(object);
    if (request->initialization && request->initialization->file_count > 0)
        set_files(object, request->initialization);
    if (password)
        set_admin_pass(object, password);
}

int
meta_data_write_configdrive(struct buffer *buffer, const struct request *request,
                            struct instance_id *id, struct failure **failure)
{
    cleanup_json json_t *object = json_object();
    cleanup_json json_t *keys = public_keys(request);
    cleanup_free char *hostname = request_hostname(request);
    cleanup_free char *instance_id = NULL;
    cleanup_free char *uuid = NULL;
    cleanup_free char *text = NULL;

    reserve(object, "uuid");
    reserve(object, "instance_id");
    json_set_string(object, "hostname", hostname);
    json_set_string(object, "name", hostname);
    if (request->instance_type)
        json_set_string(object, "instance_type", request->instance_type);
    if (json_array_size(keys) > 0)
        json_must(json_object_set_new(object, "public_keys", name_keys(keys)));
    set_references(object, request);
    if (custom_meta_data_add(object, request, configdrive_keys, failure) < 0)
        return -1;
    instance_id = instance_id_of(id, object, configdrive_uncovered);
    uuid = derived_uuid(request->domain->uuid, instance_id);
    json_set_string(object, "uuid", uuid);
    json_set_string(object, "instance_id", instance_id);
    text = json_text(object);
    buffer_append_string(buffer, text);
    return 0;
}
