/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <math.h>

#include "base/json.h"
#include "domain/domain.h"
#include "domain/guest-value.h"
#include "domain/uuid.h"
#include "domain/xml.h"
#include "seed/seed.h"
#include "seed/writers.h"
#include "seed/yaml.h"

/* --- metadata of the user's own ----------------------------------------------------- */

/*
 * As in KubeVirt's VEP 100, the request's entries, the keys of its secrets and the mapping
 * in its file are next to the generated keys. The guest reads them with 'cloud-init query
 * ds.meta_data.KEY'.
 */

/* A key that virt-seed generates, and the element that sets it; NULL if none does. */
struct custom_owner {
    const char *key;
    const char *element;
};

struct custom {
    json_t *object;
    json_t *origins; /* of each key: what has set it */
    const struct custom_owner *owners;
};

/* Takes ownership of the value. */
static int
add(struct custom *custom, const char *key, json_t *value, const char *origin,
    struct failure **failure)
{
    cleanup_json json_t *owned = value;
    const char *other = json_string_value(json_object_get(custom->origins, key));

    for (const struct custom_owner *owner = custom->owners; owner->key; owner++) {
        if (strcmp(owner->key, key) != 0)
            continue;
        if (!owner->element)
            return failure_set(failure, FAILURE_META_DATA,
                               "%s has the key '%s', which has a meaning of its own for "
                               "the guest\n"
                               "choose another name for the key",
                               origin, key);
        return failure_set(failure, FAILURE_META_DATA,
                           "%s has the key '%s', which virt-seed generates\n"
                           "set it with <%s>",
                           origin, key, owner->element);
    }
    if (other)
        return failure_set(failure, FAILURE_META_DATA,
                           "the key '%s' is in both %s and %s\nkeep one of them", key,
                           other, origin);
    if (!owned)
        return failure_set(failure, FAILURE_META_DATA,
                           "%s: the value of '%s' is not UTF-8\n"
                           "encode it, as base64 for example",
                           origin, key);
    json_set(custom->object, key, json_incref(owned));
    json_set_string(custom->origins, key, origin);
    if (json_object_size(custom->origins) <= LIMIT_ENTRIES)
        return 0;
    return failure_set(failure, FAILURE_LIMIT,
                       "more than %d keys of metadata, with %s\n"
                       "put large sets into user-data",
                       LIMIT_ENTRIES, origin);
}

static int
check_value(const json_t *value, struct failure **failure)
{
    const char *key;
    json_t *child;
    size_t index;
    double number = fabs(json_real_value(value));

    /* YAML recognizes a float by its dot and its sign ("1.0e+20"), which JSON omits. */
    if (number != 0 && (number < 1e-4 || number >= 1e16))
        return failure_set(failure, FAILURE_META_DATA,
                           "has a number with an exponent\nput it in quotes, as text");
    json_array_foreach((json_t *)value, index, child) {
        if (check_value(child, failure) < 0)
            return -1;
    }
    json_object_foreach((json_t *)value, key, child) {
        /* In YAML, a key may have at most 1024 characters. */
        if (strlen(key) > LIMIT_ENTRY_KEY)
            return failure_set(failure, FAILURE_LIMIT,
                               "has a key of more than %d bytes\nshorten it",
                               LIMIT_ENTRY_KEY);
        if (check_value(child, failure) < 0)
            return -1;
    }
    return 0;
}

/* The values of a secret are text. A file is a YAML mapping of anything that JSON can
 * express. */
static int
add_part(struct custom *custom, const struct part *part, const char *origin,
         struct failure **failure)
{
    const char *text = buffer_text(&part->data);
    cleanup_json json_t *values = NULL;
    const char *key;
    json_t *value;

    for (size_t i = 0; i < part->entry_count; i++) {
        const struct buffer *data = &part->entries[i].data;

        if (add(custom, part->entries[i].key, json_stringn(buffer_text(data), data->size),
                origin, failure) < 0)
            return -1;
    }
    if (part->origin == PART_SECRET && part->key)
        return add(custom, part->key, json_stringn(text, part->data.size), origin,
                   failure);
    if (part->origin != PART_FILE || part->data.size == 0)
        return 0;
    values = yaml_load(part->data.data, part->data.size, YAML_ONE_MAPPING, failure);
    if (!values || check_value(values, failure) < 0)
        return failure_prefix(failure, "%s", origin);
    json_object_foreach(values, key, value) {
        if (add(custom, key, json_incref(value), origin, failure) < 0)
            return -1;
    }
    return 0;
}

/* Adds them to the generated object. A key that has an owner, and a duplicate, is an
 * error, which names the key and its origin. `owners` ends with a NULL key. */
static int
custom_meta_data_add(json_t *object, const struct request *request,
                     const struct custom_owner *owners, struct failure **failure)
{
    cleanup_json json_t *origins = json_object();
    struct custom custom = {.object = object, .origins = origins, .owners = owners};

    for (size_t i = 0; i < request->meta_data_count; i++) {
        if (add(&custom, request->meta_data[i].key,
                json_string(request->meta_data[i].value), "<meta-data>", failure) < 0)
            return -1;
    }
    parts_foreach(part, &request->parts, PART_META_DATA) {
        cleanup_free char *origin = part_describe(part);

        if (add_part(&custom, part, origin, failure) < 0)
            return failure_at_line(failure, part->line);
    }
    return 0;
}

/* --- devices ------------------------------------------------------------------------ */

/*
 * As in OpenStack ("device role tagging") and KubeVirt: type, bus, address, mac and tags
 * of each device that has an alias set by the user (ua-TAG).
 */
static const struct {
    const char *element;
    const char *type;
} kinds[] = {
    {"interface", "nic"},
    {"hostdev", "hostdev"},
    {"disk", "disk"},
};

/* Return: the device, owned by the caller; NULL if the user has not tagged it. The seed's
 * own disk does not count, so that wiring does not change the seed. */
static json_t *
describe(const xmlNode *node, const char *type)
{
    const xmlNode *target = xml_child(node, "target");
    cleanup_free char *alias = device_alias(node);
    cleanup_free char *pci = device_pci_address(node);
    cleanup_free char *bus = target ? xml_attribute(target, "bus") : NULL;
    cleanup_free char *mac = device_mac(node);
    const size_t length = strlen(DEVICE_USER_ALIAS);
    const char *bus_word = NULL;

    if (!alias || strncmp(alias, DEVICE_USER_ALIAS, length) != 0)
        return NULL;
    if (!alias[length] || strcmp(alias, SEED_DISK_ALIAS) == 0)
        return NULL;
    if (pci)
        bus_word = "pci";
    else if (bus && strcmp(bus, "virtio") != 0)
        bus_word = bus;
    return json_pack("{s:s, s:s*, s:s*, s:s*, s:[s]}", "type", type, "bus", bus_word,
                     "address", pci, "mac", mac, "tags", alias + length);
}

json_t *
devices_to_json(const struct domain *domain)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    cleanup_json json_t *list = json_array();

    for (size_t i = 0; devices && i < ARRAY_SIZE(kinds); i++) {
        xml_foreach(node, devices, kinds[i].element) {
            json_t *device = describe(node, kinds[i].type);

            if (device)
                json_add(list, device);
        }
    }
    return json_array_size(list) > 0 ? steal(list) : NULL;
}

/* --- the generated keys ------------------------------------------------------------- */

/* The keys that virt-seed generates, even if they have no value now, and those that have a
 * special meaning for the guest. */
static const struct custom_owner nocloud_keys[] = {
    {"instance-id", "instance-id"},
    {"local-hostname", "hostname"},
    {"instance-type", "instance-type"},
    {"public-keys", "ssh-authorized-keys"},
    {"network-interfaces", "network-config"},
    /* They would make the guest read its seed elsewhere, or at another time. */
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

int
seed_check_meta_data(const struct request *request, struct failure **failure)
{
    cleanup_json json_t *object = json_object();
    const bool is_configdrive = request->datasource->has_network_data;

    return custom_meta_data_add(
        object, request, is_configdrive ? configdrive_keys : nocloud_keys, failure);
}

/* What the instance-id never covers: itself, the ssh keys, and what describes another
 * document or the domain's devices. */
static const char *const nocloud_uncovered[] = {"instance-id", "public-keys",
                                                "public_keys", NULL};
static const char *const configdrive_uncovered[] = {
    "uuid", "instance_id", "public_keys", "devices", "files", "network_config", NULL,
};

/* The digest has always had a dash for each byte of a derived name, so that a guest stays
 * the same instance. */
static void
cover_hostname(json_t *covered, const struct request *request)
{
    static const char *const keys[] = {"local-hostname", "hostname", "name"};
    const struct domain *domain = request->domain;
    cleanup_free char *hostname = request_hostname(request);
    cleanup_free char *by_byte = NULL;

    if (request->hostname)
        return;
    by_byte = hostname_from_domain(domain->name, domain->uuid, true);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const char *value = json_string_value(json_object_get(covered, keys[i]));

        if (value && strcmp(value, hostname) == 0)
            json_set_string(covered, keys[i], by_byte);
    }
}

/* Completes the instance-id; the object is the last document that it covers. Return: it,
 * owned by the caller (free). */
static char *
instance_id_of(struct instance_id *id, const json_t *object, const char *const *uncovered)
{
    cleanup_json json_t *covered = NULL;

    if (id->request->covers & COVER_META_DATA) {
        covered = json_copy((json_t *)object);
        for (; *uncovered; uncovered++)
            json_object_del(covered, *uncovered);
        cover_hostname(covered, id->request);
        instance_id_add_json(id, COVER_META_DATA, "meta-data", covered);
    }
    return instance_id_end(id);
}

/* --- public keys -------------------------------------------------------------------- */

static void
add_lines(json_t *list, const struct buffer *data)
{
    cleanup_free char *text = xstrdup(buffer_text(data));
    char *rest = text;
    int number = 0;

    for (char *key; (key = ssh_key_next(&rest, &number));)
        json_add(list, json_outside_string(key));
}

static json_t *
public_keys(const struct request *request)
{
    json_t *list = json_texts(request->ssh_keys, request->ssh_key_count);

    parts_foreach(part, &request->parts, PART_SSH_KEYS) {
        add_lines(list, &part->data);
        for (size_t i = 0; i < part->entry_count; i++)
            add_lines(list, &part->entries[i].data);
    }
    return list;
}

/* --- NoCloud ------------------------------------------------------------------------ */

/* All readers of NoCloud but Alpine's tiny-cloud accept the keys as a list, and none in any
 * other form; FreeBSD's nuageinit only by OpenStack's name. tiny-cloud reads the host name
 * only by EC2's name. */
int
meta_data_write_nocloud(struct buffer *buffer, const struct request *request,
                        struct instance_id *id, struct failure **failure)
{
    cleanup_json json_t *keys = public_keys(request);
    cleanup_free char *hostname = request_hostname(request);
    cleanup_free char *instance_id = NULL;
    /* The instance-id comes first, but is known last. */
    cleanup_json json_t *object =
        json_pack("{s:s, s:s, s:s*}", "instance-id", "", "local-hostname", hostname,
                  "instance-type", request->instance_type);

    if (json_array_size(keys) > 0)
        json_set(object, "public-keys", json_incref(keys));
    if (custom_meta_data_add(object, request, nocloud_keys, failure) < 0)
        return -1;
    if (json_array_size(keys) > 0 && !json_object_get(object, "public_keys"))
        json_set(object, "public_keys", json_incref(keys));
    instance_id = instance_id_of(id, object, nocloud_uncovered);
    json_set_string(object, "instance-id", instance_id);
    if (domain_is_os(request->domain, "alpinelinux.org/") &&
        !json_object_get(object, "hostname"))
        json_set_string(object, "hostname", hostname);
    yaml_text_append(buffer, object);
    return 0;
}

/* --- ConfigDrive -------------------------------------------------------------------- */

/* A fixed id is the user's, whatever it looks like: the guest may have had it from another
 * tool's seed. */
static char *
make_uuid(const struct request *request, const char *instance_id)
{
    char uuid[UUID_LENGTH + 1];

    if (request->instance_id_policy == INSTANCE_ID_FIXED ||
        strcmp(instance_id, INSTANCE_ID_MASK) == 0)
        return xstrdup(instance_id);
    uuid_make_of_name(uuid, request->domain->uuid, instance_id);
    return xstrdup(uuid);
}

/* Adds the domain's devices, what refers to other documents, and the password. */
static void
set_references(json_t *object, const struct request *request)
{
    const struct initialization *initialization = request->initialization;
    const struct part *password = parts_find(&request->parts, PART_ADMIN_PASSWORD);
    json_t *devices = devices_to_json(request->domain);

    if (devices)
        json_set(object, "devices", devices);
    if (!request->datasource->has_files)
        return;
    if (initialization && initialization->file_count > 0) {
        json_t *files = json_array();

        for (size_t i = 0; i < initialization->file_count; i++) {
            json_add(files, json_pack("{s:s, s:o}", "path", initialization->files[i].path,
                                      "content_path",
                                      json_sprintf("/" CONFIGDRIVE_FILE_CONTENT, i + 1)));
        }
        json_set(object, "files", files);
    }
    if (password) {
        cleanup_free char *word = part_word(password);

        json_set(object, "admin_pass", json_outside_string(word));
    }
}

int
meta_data_write_configdrive(struct buffer *buffer, const struct request *request,
                            struct instance_id *id, struct failure **failure)
{
    cleanup_json json_t *keys = public_keys(request);
    cleanup_free char *hostname = request_hostname(request);
    cleanup_free char *instance_id = NULL;
    cleanup_free char *uuid = NULL;
    /* The ids come first, but are known last. */
    cleanup_json json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s*}", "uuid", "", "instance_id", "", "hostname",
                  hostname, "name", hostname, "instance_type", request->instance_type);

    if (json_array_size(keys) > 0) {
        /* In OpenStack it is a mapping of names to keys; cloudbase-init accepts nothing
         * else. */
        json_t *named = json_object();
        json_t *key;
        size_t i;

        json_array_foreach(keys, i, key) {
            cleanup_free char *name = xasprintf("%zu", i);

            json_set(named, name, json_incref(key));
        }
        json_set(object, "public_keys", named);
    }
    set_references(object, request);
    if (custom_meta_data_add(object, request, configdrive_keys, failure) < 0)
        return -1;
    instance_id = instance_id_of(id, object, configdrive_uncovered);
    uuid = make_uuid(request, instance_id);
    json_set_string(object, "uuid", uuid);
    json_set_string(object, "instance_id", uuid);
    json_append(buffer, object);
    return 0;
}
