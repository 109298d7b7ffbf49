/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cloud-init volume: CloudInitNoCloudSource and CloudInitConfigDriveSource of
 * KubeVirt's API, with the metadata of its VEP 100 and the vendor-data of its VEP 455.
 */
#include "config.h"

#include "domain/part.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "import/kubevirt.h"

/* A document of the volume and the fields that can supply it; only one may be present. */
struct source_document {
    const char *element;
    const char *text;
    const char *base64;
    const char *secret;
    const char *keys[2]; /* in the secret */
};

static const struct source_document source_documents[] = {
    {"user-data", "userData", "userDataBase64", "secretRef", {"userdata", "userData"}},
    {"vendor-data",
     "vendorData",
     "vendorDataBase64",
     "vendorDataSecretRef",
     {"vendordata", "vendorData"}},
    {"network-config",
     "networkData",
     "networkDataBase64",
     "networkDataSecretRef",
     {"networkdata", "networkData"}},
};

static const char *const source_fields[] = {
    "userData",    "userDataBase64",    "secretRef",
    "vendorData",  "vendorDataBase64",  "vendorDataSecretRef",
    "networkData", "networkDataBase64", "networkDataSecretRef",
    "metaData",    "metaDataSecretRef", NULL};

/* Keys that KubeVirt generates, and refuses in metaData. */
static const char *const nocloud_keys[] = {"instance-type", "instance-id",
                                           "local-hostname", "public-keys", NULL};
static const char *const configdrive_keys[] = {
    "instance_type", "instance_id", "local_hostname", "hostname",
    "uuid",          "devices",     "public_keys",    NULL};

static int
take_source(struct kubevirt_machine *machine, const struct manifest *parent,
            const char *field, bool config_drive, struct failure **failure)
{
    cleanup_manifest struct manifest source = {0};

    if (manifest_get(&source, parent, field, JSON_OBJECT, failure) < 0)
        return -1;
    if (!source.value)
        return 0;
    if (machine->source.value)
        return failure_set(failure, FAILURE_REQUEST,
                           "%s and %s are both cloud-init volumes\n"
                           "keep one of them: KubeVirt uses only the first",
                           machine->source.path, source.path);
    manifest_clear(&machine->source);
    machine->source = source;
    source.path = NULL;
    machine->config_drive = config_drive;
    return 0;
}

int
kubevirt_find_source(struct kubevirt_machine *machine, struct failure **failure)
{
    cleanup_manifest struct manifest volumes = {0};

    machine->source.path = manifest_path(&machine->spec, "volumes");
    if (manifest_get(&volumes, &machine->spec, "volumes", JSON_ARRAY, failure) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(volumes.value); i++) {
        cleanup_manifest struct manifest volume = {0};

        if (manifest_get_item(&volume, &volumes, i, failure) < 0 ||
            take_source(machine, &volume, "cloudInitNoCloud", false, failure) < 0 ||
            take_source(machine, &volume, "cloudInitConfigDrive", true, failure) < 0)
            return -1;
    }
    return 0;
}

/* The manifest may lack the secret. */
static void
mark_secret(struct import *import, xmlNode *node, const struct source_document *document,
            const char *name)
{
    const struct import_secret *secret = import_add_secret(import, name);

    for (size_t i = 0; i < secret->key_count; i++) {
        const struct secret_key *key = &secret->keys[i];

        if (strcmp(key->name, document->keys[0]) == 0 ||
            strcmp(key->name, document->keys[1]) == 0)
            import_mark_raw(import, node, buffer_text(&key->content), key->content.size);
    }
}

static int
add_document(const struct kubevirt_machine *machine,
             const struct source_document *document, struct failure **failure)
{
    const struct manifest *source = &machine->source;
    const char *const fields[] = {document->text, document->base64, document->secret};
    cleanup_buffer struct buffer data = {0};
    const char *field = NULL, *text;
    xmlNode *node;

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        const json_t *value = json_object_get(source->value, fields[i]);

        if (!value || json_is_null(value))
            continue;
        if (json_is_string(value) && json_string_length(value) == 0)
            continue;
        if (field)
            return failure_set(failure, FAILURE_REQUEST,
                               "%s has both %s and %s\n"
                               "keep one of them: KubeVirt rejects both",
                               source->path, field, fields[i]);
        field = fields[i];
    }
    if (!field)
        return 0;
    if (field == document->secret) {
        if (manifest_get_reference(&text, source, field, "name", failure) < 0 ||
            kubevirt_refer(machine, source, field, text, document->keys, failure) < 0)
            return -1;
        node = element_add(machine->import->element, document->element);
        xml_set_attribute(node, "secret", text);
        if (strcmp(document->element, "user-data") == 0)
            mark_secret(machine->import, node, document, text);
        return 0;
    }
    if (manifest_get_text(&text, source, field, failure) < 0)
        return -1;
    if (field == document->text)
        buffer_append_string(&data, text);
    else if (base64_decode(&data, text) < 0)
        return manifest_fail(source, field, "is not base64",
                             "encode it with 'base64 FILE'", failure);
    import_add_data(machine->import, document->element, buffer_text(&data), data.size);
    return 0;
}

/* How many there may be, and how large, is for import_check(). */
static int
check_entry(const struct kubevirt_machine *machine, const struct manifest *entries,
            const char *key, const char *value, struct failure **failure)
{
    const char *const *reserved = machine->config_drive ? configdrive_keys : nocloud_keys;

    if (word_is_in(key, reserved))
        return manifest_fail(entries, key, "is a generated key",
                             "remove it: KubeVirt and virt-seed generate it", failure);
    if (!element_can_hold(key, strlen(key)) || !element_can_hold(value, strlen(value)))
        return manifest_fail(entries, key,
                             "has control characters, which a domain's XML cannot hold",
                             "put it into a secret: metaDataSecretRef", failure);
    return 0;
}

static int
add_entries(const struct kubevirt_machine *machine, struct failure **failure)
{
    cleanup_manifest struct manifest entries = {0};
    const char *key;
    json_t *value;

    if (manifest_get(&entries, &machine->source, "metaData", JSON_OBJECT, failure) < 0)
        return -1;
    json_object_foreach((json_t *)entries.value, key, value) {
        cleanup_manifest struct manifest entry = {0};
        xmlNode *node;

        if (json_is_null(value))
            return manifest_fail(&entries, key, "is nothing, expected text",
                                 "put it in quotes", failure);
        if (manifest_get(&entry, &entries, key, JSON_STRING, failure) < 0 ||
            check_entry(machine, &entries, key, json_string_value(value), failure) < 0)
            return -1;
        node = element_ensure(machine->import->element, "meta-data");
        xml_set_attribute(element_add_text(node, "entry", json_string_value(value)),
                          "name", key);
    }
    return 0;
}

static int
add_meta_data(const struct kubevirt_machine *machine, struct failure **failure)
{
    const char *field = "metaDataSecretRef";
    const json_t *reference = json_object_get(machine->source.value, field);
    const char *name;

    if (reference && !json_is_null(reference)) {
        if (manifest_get_reference(&name, &machine->source, field, "name", failure) < 0 ||
            kubevirt_refer(machine, &machine->source, field, name, NULL, failure) < 0)
            return -1;
        xml_set_attribute(element_add(machine->import->element, "meta-data"), "secret",
                          name);
    }
    return add_entries(machine, failure);
}

int
kubevirt_add_source(const struct kubevirt_machine *machine, struct failure **failure)
{
    const struct manifest *source = &machine->source;
    const size_t before = xmlChildElementCount(machine->import->element);

    if (manifest_check_fields(source, source_fields,
                              "fix its name: a cloud-init volume has userData, "
                              "userDataBase64 and secretRef, networkData…, metaData… and "
                              "vendorData…",
                              failure) < 0 ||
        add_meta_data(machine, failure) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(source_documents); i++) {
        if (add_document(machine, &source_documents[i], failure) < 0)
            return -1;
    }
    if (source->value && xmlChildElementCount(machine->import->element) == before)
        return manifest_fail(source, NULL, "has no content",
                             "add userData, networkData or metaData", failure);
    return 0;
}
