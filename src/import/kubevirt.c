/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the file's documents are sorted (kubevirt-file.c), the machine is chosen,
 * and its element is written from the fields that KubeVirt makes its seed of: names and
 * keys (kubevirt-identity.c), then the cloud-init volume (kubevirt-source.c) or what the
 * metadata server beside it (kubevirt-imds) would serve. What else a manifest has is the
 * virtual machine's, and not looked at.
 */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "import/element.h"
#include "import/kubevirt.h"

/* --- the metadata server ---------------------------------------------------------- */

#define IMDS "imds.kubevirt.io/"

static int
fail_two_seeds(const struct kubevirt_machine *machine, const char *path,
               struct failure **failure)
{
    failure_set(failure, FAILURE_REQUEST, "%s and %s are two seeds", machine->source.path,
                path);
    return failure_hint(failure, "keep one of them: the guest would take the metadata "
                                 "server's");
}

static int
fail_web_server(const char *path, struct failure **failure)
{
    failure_set(failure, FAILURE_REQUEST,
                "%s leads to a web server, whose seed is not in the file", path);
    return failure_hint(failure, "put its documents into a cloud-init volume, and the "
                                 "serial away");
}

static int
look_for_metadata_server(struct kubevirt_machine *machine, const char *user_data,
                         struct failure **failure)
{
    cleanup_free char *annotation =
        manifest_path(&machine->annotations, IMDS "user-data");
    cleanup_free char *serial =
        xasprintf("%s.domain.firmware.serial", machine->spec.path);
    const char *url = kubevirt_serial_text(machine, "s");
    const char *enabled;

    if (manifest_get_text(&enabled, &machine->annotations, IMDS "enabled", failure) < 0)
        return -1;
    machine->metadata_server = user_data || (enabled && strcmp(enabled, "true") == 0);
    if (url && !machine->metadata_server)
        return fail_web_server(serial, failure);
    if (!machine->source.value)
        return 0;
    if (user_data || url)
        return fail_two_seeds(machine, user_data ? annotation : serial, failure);
    machine->metadata_server = false;
    return 0;
}

static int
read_metadata_server(struct kubevirt_machine *machine, const char **user_data,
                     struct failure **failure)
{
    const char *map;

    if (manifest_get_text(user_data, &machine->annotations, IMDS "user-data", failure) <
            0 ||
        manifest_get_text(&map, &machine->annotations, IMDS "user-data-configmap",
                          failure) < 0)
        return -1;
    if (map)
        return manifest_fail(&machine->annotations, IMDS "user-data-configmap",
                             "names a ConfigMap, which cannot be imported",
                             "put its text into the annotation " IMDS "user-data",
                             failure);
    return look_for_metadata_server(machine, *user_data, failure);
}

/* The URL of a seed that is served stands in the SMBIOS serial, which s390x has not. */
static int
note_metadata_server(struct import *import, const struct kubevirt_machine *machine,
                     struct failure **failure)
{
    const char *architecture;

    if (manifest_get_text(&architecture, &machine->spec, "architecture", failure) < 0)
        return -1;
    if (architecture && strcmp(architecture, "s390x") == 0)
        import_note(import,
                    "what KubeVirt's metadata server would serve becomes a seed on "
                    "a disk");
    else
        import_note(import,
                    "what KubeVirt's metadata server would serve becomes a seed on "
                    "a disk; with datasource=\"nocloud-net\" in the element "
                    "virt-seed-imds serves it");
    return 0;
}

/* --- the machine ------------------------------------------------------------------ */

static int
read_machine(struct kubevirt_machine *machine, struct failure **failure)
{
    const struct manifest *root = &machine->object->root;
    cleanup_manifest struct manifest spec = {0}, template = {0}, metadata = {0};
    const char *kind = machine->object->kind;
    bool instance = strcmp(kind, "VirtualMachineInstance") == 0;

    if (strcmp(kind, "VirtualMachineInstanceReplicaSet") != 0)
        machine->name = machine->object->name;

    if (manifest_get(&spec, root, "spec", JSON_OBJECT, failure) < 0 ||
        manifest_get(&template, &spec, "template", JSON_OBJECT, failure) < 0)
        return -1;
    if (manifest_get(&metadata, instance ? root : &template, "metadata", JSON_OBJECT,
                     failure) < 0 ||
        manifest_get(&machine->annotations, &metadata, "annotations", JSON_OBJECT,
                     failure) < 0 ||
        manifest_get(&machine->spec, instance ? root : &template, "spec", JSON_OBJECT,
                     failure) < 0)
        return -1;
    return machine->spec.value ? 0
                               : manifest_fail(&machine->spec, NULL, "is missing",
                                               "give the whole manifest", failure);
}

static int
add_machine(struct import *import, struct kubevirt_machine *machine,
            struct failure **failure)
{
    const char *user_data;

    if (read_machine(machine, failure) < 0 ||
        kubevirt_find_source(machine, failure) < 0 ||
        kubevirt_read_serial(machine, failure) < 0 ||
        read_metadata_server(machine, &user_data, failure) < 0)
        return -1;
    if (!machine->source.value && !machine->metadata_server)
        return manifest_fail(&machine->spec, "volumes", "has no cloud-init volume",
                             "there is nothing to import: add a cloudInitNoCloud or "
                             "cloudInitConfigDrive volume",
                             failure);
    if (machine->config_drive)
        element_set(import->element, "datasource", "configdrive");
    if (kubevirt_add_identity(import, machine, failure) < 0 ||
        kubevirt_add_keys(import, machine, failure) < 0 ||
        kubevirt_add_source(import, machine, failure) < 0)
        return -1;
    if (machine->serial)
        import_note(import, "what the serial says to cloud-init is in the element: "
                            "virt-seed writes the serial itself");
    if (!machine->metadata_server)
        return 0;
    if (user_data)
        element_add_data(import->element, "user-data", user_data, strlen(user_data));
    return note_metadata_server(import, machine, failure);
}

static void
machine_clear(struct kubevirt_machine *machine)
{
    manifest_clear(&machine->spec);
    manifest_clear(&machine->annotations);
    manifest_clear(&machine->source);
    json_decref(machine->serial);
}

int
import_kubevirt(struct import *import, const char *data, size_t size, const char *name,
                struct failure **failure)
{
    __attribute__((cleanup(kubevirt_file_clear))) struct kubevirt_file file = {0};
    __attribute__((cleanup(machine_clear))) struct kubevirt_machine machine = {.file =
                                                                                   &file};

    if (kubevirt_file_read(&file, data, size, import, failure) < 0)
        return -1;
    machine.object = kubevirt_file_choose(&file, name, failure);
    if (!machine.object)
        return -1;
    if (add_machine(import, &machine, failure) < 0)
        return failure_prefix(failure, "%s '%.256s'", machine.object->kind,
                              machine.object->name ? machine.object->name : "");
    return 0;
}
