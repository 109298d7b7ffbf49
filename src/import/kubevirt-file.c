/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file of Kubernetes manifests: its values, its virtual machines, and the Secrets
 * they refer to. */
#include "config.h"

#include "domain/part.h"
#include "domain/vocabulary.h"
#include "host/secret.h"
#include "import/kubevirt.h"
#include "seed/yaml.h"
#include "store/secret-write.h"

/* --- values ------------------------------------------------------------------------- */

static const char *const type_names[] = {
    [JSON_OBJECT] = "a mapping",    [JSON_ARRAY] = "a list",
    [JSON_STRING] = "text",         [JSON_INTEGER] = "a number",
    [JSON_REAL] = "a number",       [JSON_TRUE] = "true or false",
    [JSON_FALSE] = "true or false", [JSON_NULL] = "nothing",
};

char *
manifest_path(const struct manifest *parent, const char *key)
{
    const char *plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    if (!*key || key[strspn(key, plain)])
        return xasprintf("%s[\"%.256s\"]", parent->path, key);
    return xasprintf("%s%s%.256s", parent->path, *parent->path ? "." : "", key);
}

int
manifest_fail(const struct manifest *parent, const char *key, const char *message,
              const char *hint, struct failure **failure)
{
    cleanup_free char *path = key ? manifest_path(parent, key) : xstrdup(parent->path);

    return failure_set(failure, FAILURE_REQUEST, "%s %s\n%s", path, message, hint);
}

static int
check_type(const struct manifest *manifest, json_type type, struct failure **failure)
{
    json_type found = json_typeof(manifest->value);

    if (found == type)
        return 0;
    failure_set(failure, FAILURE_REQUEST, "%s is %s, expected %s", manifest->path,
                type_names[found], type_names[type]);
    if (type == JSON_STRING && found != JSON_OBJECT && found != JSON_ARRAY)
        return failure_hint(failure, "put it in quotes");
    return failure_hint(failure, "write %s", type_names[type]);
}

int
manifest_get(struct manifest *field, const struct manifest *parent, const char *key,
             json_type type, struct failure **failure)
{
    const json_t *value = json_object_get(parent->value, key);

    *field = (struct manifest){
        .value = json_is_null(value) ? NULL : value,
        .path = manifest_path(parent, key),
    };
    return field->value ? check_type(field, type, failure) : 0;
}

int
manifest_get_below(struct manifest *field, const struct manifest *parent,
                   const char *keys, json_type type, struct failure **failure)
{
    const char *dot = strchr(keys, '.');
    cleanup_free char *first = xstrndup(keys, strcspn(keys, "."));
    cleanup_manifest struct manifest next = {0};

    if (!dot)
        return manifest_get(field, parent, keys, type, failure);
    if (manifest_get(&next, parent, first, JSON_OBJECT, failure) < 0)
        return -1;
    return manifest_get_below(field, &next, dot + 1, type, failure);
}

int
manifest_get_item(struct manifest *item, const struct manifest *parent, size_t index,
                  struct failure **failure)
{
    *item = (struct manifest){
        .value = json_array_get(parent->value, index),
        .path = xasprintf("%s[%zu]", parent->path, index),
    };
    return check_type(item, JSON_OBJECT, failure);
}

int
manifest_get_text(const char **text, const struct manifest *parent, const char *key,
                  struct failure **failure)
{
    cleanup_manifest struct manifest field = {0};

    *text = NULL;
    if (manifest_get(&field, parent, key, JSON_STRING, failure) < 0)
        return -1;
    if (field.value && *json_string_value(field.value))
        *text = json_string_value(field.value);
    return 0;
}

int
manifest_require_text(const char **text, const struct manifest *parent, const char *key,
                      const char *hint, struct failure **failure)
{
    if (manifest_get_text(text, parent, key, failure) < 0)
        return -1;
    return *text ? 0 : manifest_fail(parent, key, "is missing", hint, failure);
}

int
manifest_check_fields(const struct manifest *manifest, const char *const *known,
                      const char *hint, struct failure **failure)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)manifest->value, key, value) {
        if (!word_is_in(key, known))
            return manifest_fail(manifest, key, "is not a field that can be imported",
                                 hint, failure);
    }
    return 0;
}

int
manifest_get_reference(const char **name, const struct manifest *parent,
                       const char *field, const char *key, struct failure **failure)
{
    const char *const known[] = {key, NULL};
    cleanup_free char *hint = xasprintf("name the secret: {%s: NAME}", key);
    cleanup_manifest struct manifest reference = {0};

    if (manifest_get(&reference, parent, field, JSON_OBJECT, failure) < 0 ||
        manifest_check_fields(&reference, known, hint, failure) < 0)
        return -1;
    return manifest_require_text(name, &reference, key, hint, failure);
}

/* --- documents ---------------------------------------------------------------------- */

static bool
is_machine(const char *version, const char *kind)
{
    static const char *const kinds[] = {"VirtualMachine", "VirtualMachineInstance",
                                        "VirtualMachineInstanceReplicaSet", NULL};

    return strncmp(version, "kubevirt.io/", strlen("kubevirt.io/")) == 0 &&
           word_is_in(kind, kinds);
}

/* The YAML nesting limit also bounds nested Lists. */
static int
read_object(struct kubevirt_file *file, struct import *import,
            const struct manifest *root, struct failure **failure)
{
    static const char hint[] =
        "use Kubernetes manifests as printed by 'kubectl get -o yaml'";
    cleanup_manifest struct manifest metadata = {0}, items = {0};
    struct kubevirt_object object = {0};
    const char *version;
    bool core;

    if (manifest_require_text(&version, root, "apiVersion", hint, failure) < 0 ||
        manifest_require_text(&object.kind, root, "kind", hint, failure) < 0)
        return -1;
    core = strcmp(version, "v1") == 0;
    if (core && strcmp(object.kind, "List") == 0) {
        if (manifest_get(&items, root, "items", JSON_ARRAY, failure) < 0)
            return -1;
        for (size_t i = 0; i < json_array_size(items.value); i++) {
            cleanup_manifest struct manifest item = {0};

            if (manifest_get_item(&item, &items, i, failure) < 0 ||
                read_object(file, import, &item, failure) < 0)
                return -1;
        }
        return 0;
    }
    if (manifest_get(&metadata, root, "metadata", JSON_OBJECT, failure) < 0 ||
        manifest_get_text(&object.name, &metadata, "name", failure) < 0 ||
        manifest_get_text(&object.namespace, &metadata, "namespace", failure) < 0)
        return -1;
    object.root = (struct manifest){root->value, xstrdup(root->path)};
    if (is_machine(version, object.kind)) {
        *array_add(file->machines, file->machine_count) = object;
    } else if (core && strcmp(object.kind, "Secret") == 0) {
        *array_add(file->secrets, file->secret_count) = object;
    } else {
        import_note(import, "%.256s '%.256s' is ignored: it is not a virtual machine",
                    object.kind, object.name ? object.name : "");
        manifest_clear(&object.root);
    }
    return 0;
}

int
kubevirt_file_read(struct kubevirt_file *file, const char *data, size_t size,
                   struct import *import, struct failure **failure)
{
    *file = (struct kubevirt_file){0};
    file->documents = yaml_load(data, size, YAML_STREAM, failure);
    if (!file->documents)
        return -1;
    for (size_t i = 0; i < json_array_size(file->documents); i++) {
        const struct manifest root = {json_array_get(file->documents, i), (char *)""};

        if (json_is_null(root.value))
            continue;
        if (!json_is_object(root.value))
            failure_set(failure, FAILURE_REQUEST,
                        "not a mapping\nuse Kubernetes manifests");
        if (*failure || read_object(file, import, &root, failure) < 0)
            return failure_prefix(failure, "document %zu", i + 1);
    }
    return 0;
}

/* --- choosing --------------------------------------------------------------------- */

/* `wanted` is NAME or NAMESPACE/NAME. */
static bool
is_called(const struct kubevirt_object *object, const char *wanted)
{
    cleanup_free char *full = NULL;

    if (!object->name)
        return false;
    if (object->namespace)
        full = xasprintf("%s/%s", object->namespace, object->name);
    return strcmp(object->name, wanted) == 0 || (full && strcmp(full, wanted) == 0);
}

const struct kubevirt_object *
kubevirt_file_choose(const struct kubevirt_file *file, const char *name,
                     struct failure **failure)
{
    const struct kubevirt_object *chosen = NULL;
    const char *problem = "more than one virtual machine";
    cleanup_buffer struct buffer names = {0};
    size_t count = 0;

    for (size_t i = 0; i < file->machine_count; i++) {
        const struct kubevirt_object *machine = &file->machines[i];

        buffer_printf(&names, "%s'%.64s%s%.256s'", i > 0 ? ", " : "",
                      machine->namespace ? machine->namespace : "",
                      machine->namespace ? "/" : "", machine->name ? machine->name : "");
        if (name && !is_called(machine, name))
            continue;
        chosen = machine;
        count++;
    }
    if (count == 1)
        return chosen;
    if (file->machine_count == 0) {
        failure_set(failure, FAILURE_REQUEST,
                    "no KubeVirt virtual machine found\n"
                    "use a manifest of kind VirtualMachine or VirtualMachineInstance");
        return NULL;
    }
    if (count == 0)
        problem = "no virtual machine has that name; found";
    failure_set(failure, FAILURE_REQUEST,
                "%s: %s\nchoose one with --name=NAME or --name=NAMESPACE/NAME", problem,
                names.data);
    return NULL;
}

void
kubevirt_file_clear(struct kubevirt_file *file)
{
    for (size_t i = 0; i < file->machine_count; i++)
        manifest_clear(&file->machines[i].root);
    free(file->machines);
    for (size_t i = 0; i < file->secret_count; i++)
        manifest_clear(&file->secrets[i].root);
    free(file->secrets);
    json_decref(file->documents);
    *file = (struct kubevirt_file){0};
}

/* --- Secrets ---------------------------------------------------------------------- */

static int
read_keys(struct import_secret *secret, const struct manifest *root, const char *field,
          const json_t *overriding, bool encoded, struct failure **failure)
{
    cleanup_manifest struct manifest keys = {0};
    const char *key;
    json_t *value;

    if (manifest_get(&keys, root, field, JSON_OBJECT, failure) < 0)
        return -1;
    json_object_foreach((json_t *)keys.value, key, value) {
        cleanup_manifest struct manifest member = {0};
        cleanup_buffer struct buffer content = {0};

        if (manifest_get(&member, &keys, key, JSON_STRING, failure) < 0)
            return -1;
        if (secret_check_key(key, failure) < 0)
            return failure_prefix(failure, "%s", member.path);
        if (json_object_get(overriding, key))
            continue;
        if (!encoded && member.value)
            buffer_append(&content, json_string_value(member.value),
                          json_string_length(member.value));
        else if (member.value && base64_decode(&content, json_string_value(value)) < 0)
            return manifest_fail(&keys, key, "is not base64",
                                 "encode it with 'base64 FILE', or use stringData",
                                 failure);
        *array_add(secret->keys, secret->key_count) =
            (struct secret_key){.name = xstrdup(key), .content = steal_buffer(&content)};
    }
    return 0;
}

static int
read_secret(struct import_secret *secret, const struct kubevirt_object *object,
            struct failure **failure)
{
    static const char *const known[] = {"apiVersion", "kind",       "metadata",  "type",
                                        "data",       "stringData", "immutable", NULL};
    const json_t *text = json_object_get(object->root.value, "stringData");

    if (manifest_check_fields(&object->root, known,
                              "remove it or fix its name: a Secret has data and "
                              "stringData",
                              failure) < 0)
        return -1;
    /* As in Kubernetes, stringData takes precedence. */
    if (read_keys(secret, &object->root, "data", text, true, failure) < 0)
        return -1;
    return read_keys(secret, &object->root, "stringData", NULL, false, failure);
}

/* `found` gets the Secret of that name; NULL if the file has none. */
static int
find_secret(const struct kubevirt_object **found, const struct kubevirt_machine *machine,
            const char *name, struct failure **failure)
{
    const char *namespace = machine->object->namespace;

    *found = NULL;
    for (size_t i = 0; i < machine->file->secret_count; i++) {
        const struct kubevirt_object *secret = &machine->file->secrets[i];

        if (!secret->name || strcmp(secret->name, name) != 0)
            continue;
        if (secret->namespace && namespace && strcmp(secret->namespace, namespace) != 0)
            continue;
        if (*found)
            return failure_set(failure, FAILURE_REQUEST,
                               "duplicate Secret '%s'\nkeep one of them", name);
        *found = secret;
    }
    return 0;
}

/* One of the two keys is required. */
static int
check_keys(const struct import_secret *secret, const char *const *keys,
           struct failure **failure)
{
    if (secret->key_count == 0)
        return failure_set(failure, FAILURE_REQUEST, "no keys\nadd data or stringData");
    for (size_t i = 0; keys && i < secret->key_count; i++) {
        if (strcmp(secret->keys[i].name, keys[0]) == 0 ||
            strcmp(secret->keys[i].name, keys[1]) == 0)
            return 0;
    }
    if (!keys)
        return 0;
    return failure_set(failure, FAILURE_REQUEST, "no key '%s'\nadd the key '%s' or '%s'",
                       keys[0], keys[0], keys[1]);
}

int
kubevirt_refer(const struct kubevirt_machine *machine, const struct manifest *parent,
               const char *field, const char *name, const char *const *keys,
               struct failure **failure)
{
    cleanup_free char *path = manifest_path(parent, field);
    const struct kubevirt_object *object;
    struct import_secret *secret;

    if (secret_check_name("secret", name, failure) < 0 ||
        find_secret(&object, machine, name, failure) < 0)
        return failure_prefix(failure, "%s", path);
    secret = import_add_secret(machine->import, name);
    if (!object)
        return 0;
    if ((secret->key_count == 0 && read_secret(secret, object, failure) < 0) ||
        check_keys(secret, keys, failure) < 0) {
        failure_prefix(failure, "Secret '%s'", name);
        return failure_prefix(failure, "%s", path);
    }
    return 0;
}
