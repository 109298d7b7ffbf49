/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of Kubernetes's: its documents, and which of them are ours. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "import/kubevirt.h"
#include "seed/yaml-json.h"

static int
take_object(struct kubevirt_file *file, struct kubevirt_object *object, bool secret)
{
    struct kubevirt_object **list = secret ? &file->secrets : &file->machines;
    size_t *count = secret ? &file->secret_count : &file->machine_count;

    *list = xreallocarray(*list, *count + 1, sizeof(**list));
    (*list)[(*count)++] = *object;
    object->root = (struct manifest){0};
    return 0;
}

static bool
is_machine(const char *version, const char *kind)
{
    return strncmp(version, "kubevirt.io/", strlen("kubevirt.io/")) == 0 &&
           (strcmp(kind, "VirtualMachine") == 0 ||
            strcmp(kind, "VirtualMachineInstance") == 0 ||
            strcmp(kind, "VirtualMachineInstanceReplicaSet") == 0);
}

/* Text that must be there. */
static int
get_required(const char **text, const struct manifest *parent, const char *key,
             struct failure **failure)
{
    if (manifest_get_text(text, parent, key, failure) < 0)
        return -1;
    return *text ? 0
                 : manifest_fail(parent, key, "is missing",
                                 "give Kubernetes's manifests, as 'kubectl get -o yaml' "
                                 "prints them",
                                 failure);
}

static int read_object(struct kubevirt_file *file, struct import *import,
                       const struct manifest *root, struct failure **failure);

static int
read_items(struct kubevirt_file *file, struct import *import, const struct manifest *root,
           struct failure **failure)
{
    cleanup_manifest struct manifest items = {0};

    if (manifest_get(&items, root, "items", JSON_ARRAY, failure) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(items.value); i++) {
        cleanup_manifest struct manifest item = {0};

        if (manifest_get_item(&item, &items, i, JSON_OBJECT, failure) < 0 ||
            read_object(file, import, &item, failure) < 0)
            return -1;
    }
    return 0;
}

/* The nesting of Lists is bounded by that of YAML. */
static int
read_object(struct kubevirt_file *file, struct import *import,
            const struct manifest *root, struct failure **failure)
{
    cleanup_manifest struct manifest metadata = {0};
    struct kubevirt_object object = {0};
    const char *version;

    if (get_required(&version, root, "apiVersion", failure) < 0 ||
        get_required(&object.kind, root, "kind", failure) < 0)
        return -1;
    if (strcmp(version, "v1") == 0 && strcmp(object.kind, "List") == 0)
        return read_items(file, import, root, failure);
    if (manifest_get(&metadata, root, "metadata", JSON_OBJECT, failure) < 0 ||
        manifest_get_text(&object.name, &metadata, "name", failure) < 0 ||
        manifest_get_text(&object.namespace, &metadata, "namespace", failure) < 0)
        return -1;
    object.root = (struct manifest){.value = root->value, .path = xstrdup(root->path)};
    if (is_machine(version, object.kind))
        return take_object(file, &object, false);
    if (strcmp(version, "v1") == 0 && strcmp(object.kind, "Secret") == 0)
        return take_object(file, &object, true);
    import_note(import, "%.256s '%.256s' is passed over: it is no virtual machine",
                object.kind, object.name ? object.name : "");
    manifest_clear(&object.root);
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
        if (!json_is_object(root.value)) {
            failure_set(failure, FAILURE_REQUEST, "no mapping");
            failure_hint(failure, "give Kubernetes's manifests");
        }
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
    const char *slash = strchr(wanted, '/');

    if (!object->name)
        return false;
    if (!slash)
        return strcmp(object->name, wanted) == 0;
    return object->namespace && strcmp(object->name, slash + 1) == 0 &&
           strlen(object->namespace) == (size_t)(slash - wanted) &&
           strncmp(object->namespace, wanted, (size_t)(slash - wanted)) == 0;
}

/* Return: "'a', 'b'", owned by the caller (free). */
static char *
list_names(const struct kubevirt_file *file)
{
    struct buffer names = {0};

    for (size_t i = 0; i < file->machine_count; i++) {
        const struct kubevirt_object *machine = &file->machines[i];
        cleanup_free char *name =
            xasprintf("%s'%.64s%s%.256s'", i > 0 ? ", " : "",
                      machine->namespace ? machine->namespace : "",
                      machine->namespace ? "/" : "", machine->name ? machine->name : "");

        buffer_append_string(&names, name);
    }
    return names.data ? names.data : xstrdup("none");
}

const struct kubevirt_object *
kubevirt_file_choose(const struct kubevirt_file *file, const char *name,
                     struct failure **failure)
{
    const struct kubevirt_object *chosen = NULL;
    cleanup_free char *names = list_names(file);
    size_t count = 0;

    for (size_t i = 0; i < file->machine_count; i++) {
        if (name && !is_called(&file->machines[i], name))
            continue;
        chosen = &file->machines[i];
        count++;
    }
    if (count == 1)
        return chosen;
    if (file->machine_count == 0) {
        failure_set(failure, FAILURE_REQUEST, "no virtual machine of KubeVirt's");
        failure_hint(failure, "give a manifest of kind VirtualMachine or "
                              "VirtualMachineInstance");
        return NULL;
    }
    failure_set(failure, FAILURE_REQUEST,
                count == 0 ? "no virtual machine of that name, but %s"
                           : "more than one virtual machine: %s",
                names);
    failure_hint(failure, "choose one with --name=NAME or --name=NAMESPACE/NAME");
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
