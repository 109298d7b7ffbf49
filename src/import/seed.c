/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Imports a seed: its files become the elements that give the guest the same files. The
 * seed is an image, that of another tool's disk in a domain, or oVirt's payload.
 */
#include "config.h"

#include <sys/mman.h>

#include "base/fs.h"
#include "base/json.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "host/forbidden-paths.h"
#include "image/image.h"
#include "import/import.h"
#include "seed/layout.h"
#include "seed/yaml.h"
#include "wire/wire.h"

/* --- keys of the meta-data -------------------------------------------------------- */

/* The names of keys in a datasource's document. */
struct meta_keys {
    bool json; /* otherwise YAML */
    const char *hostname;
    const char *instance_id;
    const char *instance_type;
    const char *public_keys;
    /* A key that repeats the value of another, and that one. */
    const char *repeating;
    const char *repeated;
};

static const struct meta_keys openstack_keys = {
    .json = true,
    .hostname = "hostname",
    .instance_id = "uuid",
    .instance_type = "instance_type",
    .public_keys = "public_keys",
    .repeating = "name",
    .repeated = "hostname",
};
static const struct meta_keys nocloud_keys = {
    .hostname = "local-hostname",
    .instance_id = "instance-id",
    .instance_type = "instance-type",
    .public_keys = "public-keys",
    .repeating = "public_keys",
    .repeated = "public-keys",
};

static int
fail_key(const char *key, const char *message, const char *hint, struct failure **failure)
{
    return failure_set(failure, FAILURE_REQUEST, "key '%.256s' %s\n%s", key, message,
                       hint);
}

/* What the keys of a document are translated with. */
struct meta_import {
    struct import *import;
    const struct seed *seed; /* with the files that keys refer to */
    const struct meta_keys *names;
};

static int
add_word(struct import *import, const json_t *meta, const char *key, const char *element,
         const char *policy, struct failure **failure)
{
    const json_t *value = json_object_get(meta, key);
    const char *text = json_string_value(value);
    xmlNode *node;

    if (!value)
        return 0;
    if (!text || !*text || !element_can_hold(text, strlen(text)))
        return fail_key(key, "is not text that a domain's XML can contain", "fix it",
                        failure);
    node = element_add_text(import->element, element, text);
    if (policy)
        xml_set_attribute(node, "policy", policy);
    return 0;
}

static int
add_public_key(xmlNode *node, const char *key, const json_t *value,
               struct failure **failure)
{
    const char *text = json_string_value(value);
    cleanup_free char *word = NULL;

    if (!text || !element_can_hold(text, strlen(text)))
        return fail_key(key, "is neither a list of keys nor a mapping of names to keys",
                        "write a list", failure);
    word = xstrndup(text, strcspn(text, "\r\n"));
    if (text[strlen(word) + strspn(text + strlen(word), "\r\n")])
        return fail_key(key, "has a key of more than one line", "write a list", failure);
    if (*word)
        element_add_text(node, "key", word);
    return 0;
}

static int
add_public_keys(struct import *import, const json_t *meta, const char *key,
                struct failure **failure)
{
    json_t *value = json_object_get(meta, key);
    const char *name;
    xmlNode *node;
    json_t *item;
    size_t i;

    if (!value)
        return 0;
    node = element_add(import->element, "ssh-authorized-keys");
    if (!json_is_array(value) && !json_is_object(value))
        return add_public_key(node, key, value, failure);
    json_array_foreach(value, i, item) {
        if (add_public_key(node, key, item, failure) < 0)
            return -1;
    }
    json_object_foreach(value, name, item) {
        if (add_public_key(node, key, item, failure) < 0)
            return -1;
    }
    return 0;
}

/* Return: the document that the value of a key refers to; NULL if it cannot be read. */
static const struct document *
find_content(const struct meta_import *meta, const json_t *value)
{
    cleanup_free char *path = layout_content_path(value);
    const struct document *document = path ? seed_find_document(meta->seed, path) : NULL;

    return document && !document->unread ? document : NULL;
}

/* cloud-init writes each file to its path; the content is another file of the drive. */
static int
add_files(const struct meta_import *meta, const char *key, const json_t *list,
          struct failure **failure)
{
    xmlNode *files =
        element_add(element_ensure(meta->import->element, "initialization"), "files");
    json_t *item;
    size_t i;

    if (!json_is_array(list))
        return fail_key(key, "is not a list", "write a list of files", failure);
    json_array_foreach((json_t *)list, i, item) {
        const char *path = json_string_value(json_object_get(item, "path"));
        const struct document *document =
            find_content(meta, json_object_get(item, "content_path"));
        const bool fits = path && element_can_hold(path, strlen(path));
        cleanup_buffer struct buffer encoded = {0};
        xmlNode *file;

        if (!fits || !document || json_object_size(item) != 2)
            return fail_key(key,
                            "has a file without a path or a content that can be read",
                            "write the file with write_files in user-data", failure);
        base64_encode(&encoded, document->data.data, document->data.size, 0);
        file = element_add(files, "file");
        element_add_text(file, "name", path);
        element_add_text(file, "content", buffer_text(&encoded));
        element_add_text(file, "type", "BASE64");
    }
    return 0;
}

/* A domain's XML is public, so a password becomes a secret of the host. */
static int
add_password(struct import *import, const char *key, const json_t *meta,
             struct failure **failure)
{
    const char *password = json_string_value(json_object_get(meta, key));
    const char *uuid = json_string_value(json_object_get(meta, "uuid"));
    cleanup_free char *name = xasprintf("admin-password-%s", uuid ? uuid : "");
    struct import_secret *secret;
    struct secret_key *entry;

    if (!password || secret_check_name("uuid", name, failure) < 0)
        return *failure ? -1 : fail_key(key, "is not text", "fix it", failure);
    secret = import_add_secret(import, name);
    entry = array_add(secret->keys, secret->key_count);
    *entry = (struct secret_key){.name = xstrdup("admin-password")};
    buffer_append_string(&entry->content, password);
    xml_set_attribute(element_add(import->element, "admin-password"), "secret", name);
    return 0;
}

static int
add_network(const struct meta_import *meta, const char *key, const json_t *value,
            struct failure **failure)
{
    const struct document *document =
        find_content(meta, json_object_get(value, "content_path"));

    if (seed_find_document(meta->seed, "openstack/latest/network_data.json")) {
        import_note(meta->import, "key 'network_config' is ignored: cloud-init prefers "
                                  "network_data.json");
        return 0;
    }
    if (!document)
        return fail_key(key, "refers to no file that can be read",
                        "write its content_path, such as /content/0000", failure);
    if (import_interfaces(element_ensure(meta->import->element, "initialization"),
                          &document->data, failure) < 0)
        return failure_prefix(failure, "key '%s', file '%s'", key, document->path);
    return 0;
}

/* Keys of a ConfigDrive that do not become an <entry>. */
static const char *const openstack_own[] = {"files",   "admin_pass",     "instance_id",
                                            "devices", "network_config", NULL};

static int
add_openstack_key(const struct meta_import *meta, const json_t *all, const char *key,
                  const json_t *value, struct failure **failure)
{
    struct import *import = meta->import;

    if (strcmp(key, "files") == 0)
        return add_files(meta, key, value, failure);
    if (strcmp(key, "admin_pass") == 0)
        return add_password(import, key, all, failure);
    if (strcmp(key, "network_config") == 0)
        return add_network(meta, key, value, failure);
    if (strcmp(key, "devices") == 0)
        import_note(import,
                    "key 'devices' is ignored: each seed describes the devices of "
                    "its domain");
    else if (!json_equal(value, json_object_get(all, "uuid")))
        import_note(import, "key 'instance_id' is ignored: cloud-init goes by 'uuid'");
    return 0;
}

/* A key without an element becomes an <entry>. */
static int
add_entry(const struct meta_import *importing, const json_t *meta, const char *key,
          const json_t *value, struct failure **failure)
{
    /* An element of that name would be refused. */
    static const char *const reserved[] = {"random_seed", "dsmode", "seedfrom",
                                           "network-interfaces", NULL};
    struct import *import = importing->import;
    const struct meta_keys *names = importing->names;
    /* The engine writes this into each "meta"; no guest uses it. */
    cleanup_json json_t *constant = json_pack("{s:s, s:s, s:s}", "dsmode", "local",
                                              "essential", "false", "role", "server");
    const char *const known[] = {names->hostname, names->instance_id,
                                 names->instance_type, names->public_keys, NULL};
    const char *text = json_string_value(value);
    xmlNode *node;

    if (names->json && word_is_in(key, openstack_own))
        return add_openstack_key(importing, meta, key, value, failure);
    if (word_is_in(key, known))
        return 0;
    if (word_is_in(key, reserved))
        text = NULL;
    if (strcmp(key, names->repeating) == 0) {
        cleanup_free char *message = xasprintf("differs from '%s'", names->repeated);

        if (json_equal(value, json_object_get(meta, names->repeated)))
            return 0;
        return fail_key(key, message, "write the same value in both keys", failure);
    }
    if (strcmp(key, "meta") == 0 && json_equal(value, constant)) {
        import_note(import, "key 'meta' is ignored: it contains only what oVirt writes "
                            "for every guest");
        return 0;
    }
    if (!text || !element_can_hold(key, strlen(key)) ||
        !element_can_hold(text, strlen(text)))
        return fail_key(key, "has a value that no element can express",
                        "remove it, or write text: other keys can only have text",
                        failure);
    node = element_ensure(import->element, "meta-data");
    xml_set_attribute(element_add_text(node, "entry", text), "name", key);
    return 0;
}

static int
add_meta(const struct meta_import *importing, const struct buffer *data,
         struct failure **failure)
{
    struct import *import = importing->import;
    const struct meta_keys *names = importing->names;
    cleanup_json json_t *meta = NULL;
    const char *key;
    json_error_t error;
    json_t *value;

    if (names->json) {
        meta = json_loadb(data->data, data->size, JSON_REJECT_DUPLICATES, &error);
        if (!meta)
            return failure_set(failure, FAILURE_REQUEST,
                               "not JSON: line %d: %s\n"
                               "fix the document",
                               error.line, error.text);
    } else {
        meta = yaml_load(data->data, data->size, YAML_ONE_DOCUMENT, failure);
        if (!meta)
            return -1;
        if (json_is_null(meta))
            return 0;
    }
    if (!json_is_object(meta))
        return failure_set(failure, FAILURE_REQUEST, "not a mapping\nfix the document");
    if (add_word(import, meta, names->hostname, "hostname", NULL, failure) < 0 ||
        add_word(import, meta, names->instance_id, "instance-id", "fixed", failure) < 0)
        return -1;
    if (add_word(import, meta, names->instance_type, "instance-type", NULL, failure) <
            0 ||
        add_public_keys(import, meta, names->public_keys, failure) < 0)
        return -1;
    json_object_foreach(meta, key, value) {
        if (add_entry(importing, meta, key, value, failure) < 0)
            return -1;
    }
    return 0;
}

/* --- files ------------------------------------------------------------------------ */

struct known_file {
    const char *path;
    const char *element;          /* that gives it to the guest unchanged, or NULL */
    bool wrapped;                 /* it is the text of "cloud-init" in JSON */
    const struct meta_keys *meta; /* if there is no such element */
};

static const struct known_file configdrive_files[] = {
    {"openstack/latest/meta_data.json", .meta = &openstack_keys},
    {"openstack/latest/user_data", .element = "user-data"},
    {"openstack/latest/vendor_data.json", .element = "vendor-data", .wrapped = true},
    {"openstack/latest/network_data.json", .element = "network-config"},
    {0},
};
static const struct known_file nocloud_files[] = {
    {"meta-data", .meta = &nocloud_keys},
    {"user-data", .element = "user-data"},
    {"vendor-data", .element = "vendor-data"},
    {"network-config", .element = "network-config"},
    {0},
};

/* OpenStack's vendor_data.json, of which cloud-init reads one key (convert_vendordata). */
static int
add_wrapped(struct import *import, const struct buffer *data, struct failure **failure)
{
    json_error_t error;
    cleanup_json json_t *object =
        json_loadb(buffer_text(data), data->size, JSON_REJECT_DUPLICATES, &error);
    const json_t *text = json_object_get(object, "cloud-init");

    if (object && json_object_size(object) == 0)
        return 0;
    if (!json_is_string(text) || json_object_size(object) != 1)
        return failure_set(failure, FAILURE_REQUEST,
                           "is not JSON with text as 'cloud-init' and no other key\n"
                           "make it such JSON: cloud-init reads nothing else");
    return import_vendor_data(import, json_string_value(text), json_string_length(text),
                              failure);
}

static int
add_file(const struct meta_import *importing, const struct document *file,
         const struct known_file *known, struct failure **failure)
{
    struct import *import = importing->import;
    const struct buffer *data = &file->data;
    struct meta_import meta = *importing;

    while (known->path && strcmp(known->path, file->path) != 0)
        known++;
    if (!known->path)
        return failure_set(failure, FAILURE_REQUEST,
                           "no element can give the guest this file");
    if (file->unread)
        return failure_set(failure, FAILURE_REQUEST,
                           "is not a regular file, or too large for a seed's");
    meta.names = known->meta;
    if (known->meta)
        return add_meta(&meta, data, failure);
    if (data->size == 0)
        return 0;
    if (known->wrapped)
        return add_wrapped(import, data, failure);
    if (strcmp(known->element, "vendor-data") == 0)
        return import_vendor_data(import, data->data, data->size, failure);
    import_add_data(import, known->element, data->data, data->size);
    return 0;
}

int
import_seed(struct import *import, const struct seed *seed, const char *name,
            struct failure **failure)
{
    bool config_drive = strcasecmp(seed->label, SEED_LABEL_CONFIGDRIVE) == 0;
    cleanup_json json_t *references = layout_references(seed);
    const struct meta_import importing = {.import = import, .seed = seed};

    if (!config_drive && strcasecmp(seed->label, SEED_LABEL_NOCLOUD) != 0)
        return failure_set(failure, FAILURE_REQUEST,
                           "%s: the label is '%s', expected '" SEED_LABEL_CONFIGDRIVE
                           "' or '" SEED_LABEL_NOCLOUD "'\n"
                           "import a seed that cloud-init can find",
                           name, seed->label);
    if (config_drive)
        xml_set_attribute(import->element, "datasource", "configdrive");
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *file = &seed->documents[i];

        /* add_files() and add_network() take these. */
        if (json_object_get(references, file->path))
            continue;
        if (add_file(&importing, file, config_drive ? configdrive_files : nocloud_files,
                     failure) < 0)
            return failure_prefix(failure, "%s, file '%s'", name, file->path);
    }
    return 0;
}

/* --- images ------------------------------------------------------------------------- */

static int
read_image(struct import *import, int fd, const char *name, struct failure **failure)
{
    cleanup_seed struct seed seed = {0};

    if (iso_read(fd, &seed, failure) < 0)
        return failure_prefix(failure, "%s", name);
    if (import_seed(import, &seed, name, failure) < 0)
        return failure_hint(failure,
                            "give what is in the seed yourself: 'virt-seed inspect "
                            "--extract=DIR' unpacks it, and 'virt-seed set' takes "
                            "its documents");
    if (!vocabulary_child(import->element, "instance-id"))
        import_note(import, "the seed has no instance-id: a guest that has already been "
                            "set up takes this for a new instance");
    return 0;
}

/* Return: whether the opened file is in a directory of virt-seed's, or whether that cannot be
 * determined, as for a detached mount. */
static bool
is_ours(int root, int fd)
{
    struct own_directories own;
    const char *directory = NULL;

    own_directories_find(&own, root);
    return own_directories_find_above(&own, fd, &directory) < 0 || directory;
}

int
import_image(struct import *import, const char *path, struct failure **failure)
{
    cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return failure_set_errno(
            failure, FAILURE_IMAGE, errno,
            "could not read another tool's seed, '%s'\n"
            "virt-install deletes its seed when it ends: give the documents yourself, "
            "with 'virt-seed set --user-data FILE'",
            path);
    if (is_ours(import->root, fd))
        return failure_set(failure, FAILURE_FORBIDDEN_PATH,
                           "another tool's seed, '%s', is in a directory of virt-seed's\n"
                           "detach the disk: it may be the seed of another domain",
                           path);
    return read_image(import, fd, path, failure);
}

/* --- the seed of a domain ----------------------------------------------------------- */

char *
import_find_seed(struct domain *domain)
{
    domain_read_labels(domain);
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (disk->source && foreign_seed_reason(disk))
            return xstrdup(disk->source);
    }
    return NULL;
}

bool
import_is_seed(const char *data, size_t size)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_xml xmlDoc *doc = NULL;
    cleanup_domain struct domain domain = {0};

    if (memchr(data, '\0', size))
        return true;
    doc = xml_parse(data, size, "", &ignored);
    return doc && domain_read(&domain, doc, &ignored) == 0 && !payload_find(&domain);
}

static int
read_domain(struct import *import, const char *data, size_t size,
            struct failure **failure)
{
    cleanup_xml xmlDoc *doc = xml_parse(data, size, "the domain's XML", failure);
    cleanup_domain struct domain domain = {0};
    cleanup_free char *path = NULL;

    if (!doc || domain_read(&domain, doc, failure) < 0)
        return -1;
    path = import_find_seed(&domain);
    if (!path)
        return failure_set_at(failure, FAILURE_REQUEST, xml_line(domain.root),
                              "domain '%s' has no disk with a seed\n"
                              "there is nothing to import",
                              domain.name);
    return import_image(import, path, failure);
}

int
import_seed_file(struct import *import, const char *data, size_t size, const char *name,
                 struct failure **failure)
{
    cleanup_close int fd = -1;
    int error;

    if (name)
        return failure_set(failure, FAILURE_USAGE,
                           "--name is not for a seed\nomit it: there is only one");
    if (size == 0 || !memchr(data, '\0', size)) {
        const char *text = size > 0 ? data : "";

        if (text[strspn(text, " \t\r\n")] == '<')
            return read_domain(import, text, size, failure);
        return failure_set(failure, FAILURE_REQUEST,
                           "this is neither an image nor a domain's XML\n"
                           "give the image of the seed, or the output of "
                           "'virsh dumpxml DOMAIN'");
    }
    fd = memfd_create("seed", MFD_CLOEXEC);
    error = fd < 0 ? -errno : fs_write_all(fd, data, size);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not make a file in memory");
    return read_image(import, fd, "the image", failure);
}
