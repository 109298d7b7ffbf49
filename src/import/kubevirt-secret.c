/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Secrets that a virtual machine refers to. */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/part.h"
#include "import/element.h"
#include "import/kubevirt.h"
#include "store/secret.h"

static void
add_key(struct import_secret *secret, const char *name, struct buffer *content)
{
    secret->keys =
        xreallocarray(secret->keys, secret->key_count + 1, sizeof(*secret->keys));
    secret->keys[secret->key_count++] =
        (struct secret_key){.name = xstrdup(name), .content = steal_buffer(content)};
}

static int
read_keys(struct import_secret *secret, const struct manifest *root, const char *field,
          const json_t *overriding, bool encoded, struct failure **failure)
{
    cleanup_manifest struct manifest keys = {0};
    const char *key;
    json_t *value;

    if (manifest_get(&keys, root, field, JSON_OBJECT, failure) < 0)
        return -1;
    json_object_foreach((json_t *)keys.value, key, value)
    {
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
        else if (member.value && base64_append(&content, json_string_value(value)) < 0)
            return manifest_fail(&keys, key, "is not base64",
                                 "encode it with 'base64 FILE', or use stringData",
                                 failure);
        add_key(secret, key, &content);
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
                              "remove it, or correct its name: a Secret has data and "
                              "stringData",
                              failure) < 0)
        return -1;
    /* As Kubernetes does, stringData comes first. */
    return read_keys(secret, &object->root, "data", text, true, failure) < 0 ||
                   read_keys(secret, &object->root, "stringData", NULL, false, failure) <
                       0
               ? -1
               : 0;
}

static bool
is_in_namespace(const struct kubevirt_object *secret,
                const struct kubevirt_object *machine)
{
    return !secret->namespace || !machine->namespace ||
           strcmp(secret->namespace, machine->namespace) == 0;
}

/* `found` gets the Secret of that name; NULL where the file has none. */
static int
find_secret(const struct kubevirt_object **found, const struct kubevirt_machine *machine,
            const char *name, struct failure **failure)
{
    *found = NULL;
    for (size_t i = 0; i < machine->file->secret_count; i++) {
        const struct kubevirt_object *secret = &machine->file->secrets[i];

        if (!secret->name || strcmp(secret->name, name) != 0 ||
            !is_in_namespace(secret, machine->object))
            continue;
        if (*found) {
            failure_set(failure, FAILURE_REQUEST, "Secret '%s' is there twice", name);
            return failure_hint(failure, "keep one of them");
        }
        *found = secret;
    }
    return 0;
}

static bool
has_one_of(const struct import_secret *secret, const char *const *keys)
{
    for (; *keys; keys++) {
        for (size_t i = 0; i < secret->key_count; i++) {
            if (strcmp(secret->keys[i].name, *keys) == 0)
                return true;
        }
    }
    return false;
}

static int
check_keys(const struct import_secret *secret, const char *const *keys,
           struct failure **failure)
{
    if (secret->key_count == 0) {
        failure_set(failure, FAILURE_REQUEST, "no keys");
        return failure_hint(failure, "give it data or stringData");
    }
    if (!keys || has_one_of(secret, keys))
        return 0;
    failure_set(failure, FAILURE_REQUEST, "no key '%s'", keys[0]);
    return failure_hint(failure, "give it the key '%s' or '%s'", keys[0], keys[1]);
}

int
kubevirt_refer(struct import *import, const struct kubevirt_machine *machine,
               const struct manifest *parent, const char *field, const char *name,
               const char *const *keys, struct failure **failure)
{
    cleanup_free char *path = manifest_path(parent, field);
    const struct kubevirt_object *object;
    struct import_secret *secret;

    if (secret_check_name("secret", name, failure) < 0 ||
        find_secret(&object, machine, name, failure) < 0)
        return failure_prefix(failure, "%s", path);
    secret = import_add_secret(import, name);
    if (!object)
        return 0;
    if ((secret->key_count == 0 && read_secret(secret, object, failure) < 0) ||
        check_keys(secret, keys, failure) < 0) {
        failure_prefix(failure, "Secret '%s'", name);
        return failure_prefix(failure, "%s", path);
    }
    return 0;
}
