/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: kubevirt-file.c sorts the file's documents; then a machine is chosen, and
 * its element is written from the fields that KubeVirt makes its seed from: names and keys,
 * then the cloud-init volume (kubevirt-source.c) or what KubeVirt's metadata server
 * (kubevirt-imds) would serve. Other fields of the manifest are ignored.
 */
#include "config.h"

#include "domain/guest-value.h"
#include "domain/uuid.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "import/kubevirt.h"

/* Words such as "ds=nocloud;s=http://169.254.169.254/v1/" tell the guest's cloud-init what to
 * do (DataSourceNoCloud, parse_cmdline_data()), and virt-seed writes its own. */
static int
check_serial(const struct kubevirt_machine *machine, struct failure **failure)
{
    const char *text;

    if (manifest_get_text(&text, &machine->firmware, "serial", failure) < 0)
        return -1;
    if (!text || !strstr(text, "ds=nocloud"))
        return 0;
    if (!machine->imds)
        return manifest_fail(&machine->firmware, "serial",
                             "has settings for cloud-init, which cannot be imported",
                             "remove them, and set what they say in the element",
                             failure);
    import_note(machine->import,
                "what the serial says to cloud-init is ignored: virt-seed writes "
                "the serial itself");
    return 0;
}

static int
add_hostname(const struct kubevirt_machine *machine, struct failure **failure)
{
    const char *given, *field = "metadata.name", *name = machine->name;
    cleanup_free char *hostname = NULL;

    if (manifest_get_text(&given, &machine->spec, "hostname", failure) < 0)
        return -1;
    if (given && !machine->imds) {
        field = "spec.hostname";
        hostname = xstrdup(given);
    } else if (name) {
        size_t label = strcspn(name, ".");

        if (label > LIMIT_HOSTNAME_LABEL)
            label = LIMIT_HOSTNAME_LABEL;
        hostname = machine->imds ? xstrdup(name) : xstrndup(name, label);
    } else {
        import_note(machine->import, "the machine has no name: its host name is the "
                                     "domain's name");
        return 0;
    }
    if (hostname_check(hostname, failure) < 0)
        return failure_prefix(failure, "%s", field);
    element_add_text(machine->import->element, "hostname", hostname);
    return 0;
}

static int
add_instance_id(const struct kubevirt_machine *machine, struct failure **failure)
{
    const char *namespace = machine->object->namespace;
    cleanup_free char *name = NULL;
    const char *uuid, *id;
    char parsed[UUID_LENGTH + 1];

    if (manifest_get_text(&uuid, &machine->firmware, "uuid", failure) < 0)
        return -1;
    if (uuid && !uuid_read(parsed, uuid))
        return manifest_fail(&machine->firmware, "uuid", "is not a UUID",
                             "write 32 hexadecimal digits with dashes, or remove it",
                             failure);
    if (machine->imds && machine->name)
        name = xasprintf("%s-%s", namespace ? namespace : "default", machine->name);
    id = machine->imds ? name : uuid;
    if (id)
        xml_set_attribute(element_add_text(machine->import->element, "instance-id", id),
                          "policy", "fixed");
    return 0;
}

static int
add_instance_type(const struct kubevirt_machine *machine, struct failure **failure)
{
    cleanup_manifest struct manifest instancetype = {0};
    const char *cluster, *namespaced, *type;

    if (manifest_get_text(&cluster, &machine->annotations,
                          "kubevirt.io/cluster-instancetype-name", failure) < 0 ||
        manifest_get_text(&namespaced, &machine->annotations,
                          "kubevirt.io/instancetype-name", failure) < 0)
        return -1;
    /* KubeVirt makes the annotations from this field of VirtualMachine. */
    if (manifest_get_below(&instancetype, &machine->object->root, "spec.instancetype",
                           JSON_OBJECT, failure) < 0 ||
        manifest_get_text(&type, &instancetype, "name", failure) < 0)
        return -1;
    if (namespaced)
        type = namespaced;
    if (cluster)
        type = cluster;
    /* The metadata server does not serve it. */
    if (!type || machine->imds)
        return 0;
    if (!element_can_hold(type, strlen(type)))
        return failure_set(failure, FAILURE_REQUEST,
                           "the name of the instance type is not a single word\n"
                           "fix kubevirt.io/instancetype-name");
    element_add_text(machine->import->element, "instance-type", type);
    return 0;
}

/* `by_cloud_init` tells whether the seed or the guest agent delivers the keys. */
static int
read_propagation(const struct kubevirt_machine *machine,
                 const struct manifest *credential, bool *by_cloud_init,
                 struct failure **failure)
{
    static const char *const known[] = {"noCloud", "configDrive", "qemuGuestAgent", NULL};
    const char *ours = machine->config_drive ? "configDrive" : "noCloud";
    cleanup_manifest struct manifest method = {0};

    if (manifest_get(&method, credential, "propagationMethod", JSON_OBJECT, failure) <
            0 ||
        manifest_check_fields(&method, known,
                              "KubeVirt supports noCloud, configDrive and qemuGuestAgent",
                              failure) < 0)
        return -1;
    if (json_object_size(method.value) != 1)
        return manifest_fail(
            credential, "propagationMethod", "does not have exactly one method",
            "keep one of noCloud, configDrive and qemuGuestAgent", failure);
    *by_cloud_init = !json_object_get(method.value, "qemuGuestAgent");
    if (!*by_cloud_init)
        return 0;
    if (!machine->source.value)
        return manifest_fail(credential, "propagationMethod",
                             "needs a cloud-init volume, but there is none",
                             "add a cloudInitNoCloud or cloudInitConfigDrive volume",
                             failure);
    if (json_object_get(method.value, ours))
        return 0;
    return manifest_fail(
        credential, "propagationMethod", "does not match the kind of cloud-init volume",
        machine->config_drive ? "write configDrive: {}" : "write noCloud: {}", failure);
}

static int
get_key_secret(const char **name, const struct manifest *credential,
               struct failure **failure)
{
    static const char *const fields[] = {"source", "propagationMethod", NULL};
    static const char *const sources[] = {"secret", NULL};
    static const char hint[] = "write source: {secret: {secretName: NAME}}";
    cleanup_manifest struct manifest source = {0};

    if (manifest_check_fields(credential, fields, hint, failure) < 0 ||
        manifest_get(&source, credential, "source", JSON_OBJECT, failure) < 0 ||
        manifest_check_fields(&source, sources, hint, failure) < 0)
        return -1;
    return manifest_get_reference(name, &source, "secret", "secretName", failure);
}

static int
add_credential(const struct kubevirt_machine *machine, const struct manifest *item,
               struct failure **failure)
{
    static const char *const known[] = {"sshPublicKey", "userPassword", NULL};
    cleanup_manifest struct manifest credential = {0};
    xmlNode *keys = vocabulary_child(machine->import->element, "ssh-authorized-keys");
    bool by_cloud_init = false;
    const char *name;

    if (manifest_check_fields(item, known,
                              "KubeVirt supports sshPublicKey and userPassword",
                              failure) < 0 ||
        manifest_get(&credential, item, "sshPublicKey", JSON_OBJECT, failure) < 0)
        return -1;
    if (credential.value &&
        read_propagation(machine, &credential, &by_cloud_init, failure) < 0)
        return -1;
    if (!by_cloud_init) {
        import_note(machine->import,
                    "%s is ignored: it is for the guest agent, not for cloud-init",
                    credential.value ? credential.path : item->path);
        return 0;
    }
    if (get_key_secret(&name, &credential, failure) < 0 ||
        kubevirt_refer(machine, &credential, "source", name, NULL, failure) < 0)
        return -1;
    /* The first secret is the element's own, others are keys in it. */
    if (!keys) {
        keys = element_add(machine->import->element, "ssh-authorized-keys");
        xml_set_attribute(keys, "secret", name);
    } else if (!xml_attribute_is(keys, "secret", name)) {
        xml_set_attribute(element_add(keys, "key"), "secret", name);
    }
    return 0;
}

static int
add_keys(const struct kubevirt_machine *machine, struct failure **failure)
{
    cleanup_manifest struct manifest credentials = {0};

    if (manifest_get(&credentials, &machine->spec, "accessCredentials", JSON_ARRAY,
                     failure) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(credentials.value); i++) {
        cleanup_manifest struct manifest item = {0};

        if (manifest_get_item(&item, &credentials, i, failure) < 0 ||
            add_credential(machine, &item, failure) < 0)
            return -1;
    }
    return 0;
}

#define IMDS_ANNOTATION "imds.kubevirt.io/"

static int
read_imds(struct kubevirt_machine *machine, const char **user_data,
          struct failure **failure)
{
    const struct manifest *annotations = &machine->annotations;
    const char *map, *enabled;
    cleanup_free char *other = NULL;

    if (manifest_get_text(user_data, annotations, IMDS_ANNOTATION "user-data", failure) <
            0 ||
        manifest_get_text(&map, annotations, IMDS_ANNOTATION "user-data-configmap",
                          failure) < 0 ||
        manifest_get_text(&enabled, annotations, IMDS_ANNOTATION "enabled", failure) < 0)
        return -1;
    if (map)
        return manifest_fail(
            annotations, IMDS_ANNOTATION "user-data-configmap",
            "names a ConfigMap, which cannot be imported",
            "put its text in the annotation " IMDS_ANNOTATION "user-data", failure);
    machine->imds = *user_data || (enabled && strcmp(enabled, "true") == 0);
    if (!machine->source.value)
        return 0;
    machine->imds = false;
    if (!*user_data)
        return 0;
    other = manifest_path(annotations, IMDS_ANNOTATION "user-data");
    return failure_set(failure, FAILURE_REQUEST,
                       "%s and %s both give a seed\n"
                       "keep one of them: the guest would use the metadata server's",
                       machine->source.path, other);
}

static int
read_machine(struct kubevirt_machine *machine, struct failure **failure)
{
    const struct manifest *root = &machine->object->root;
    const char *kind = machine->object->kind;
    const char *annotations = "spec.template.metadata.annotations";
    const char *spec = "spec.template.spec";

    if (strcmp(kind, "VirtualMachineInstanceReplicaSet") != 0)
        machine->name = machine->object->name;
    if (strcmp(kind, "VirtualMachineInstance") == 0) {
        annotations = "metadata.annotations";
        spec = "spec";
    }
    if (manifest_get_below(&machine->annotations, root, annotations, JSON_OBJECT,
                           failure) < 0 ||
        manifest_get_below(&machine->spec, root, spec, JSON_OBJECT, failure) < 0)
        return -1;
    if (!machine->spec.value)
        return manifest_fail(&machine->spec, NULL, "is missing", "use the whole manifest",
                             failure);
    return manifest_get_below(&machine->firmware, &machine->spec, "domain.firmware",
                              JSON_OBJECT, failure);
}

static int
add_machine(struct kubevirt_machine *machine, struct failure **failure)
{
    const char *can_serve = "; with datasource=\"nocloud-net\" in the element "
                            "virt-seed-imds serves it";
    const char *user_data, *architecture;

    if (read_machine(machine, failure) < 0 || kubevirt_find_source(machine, failure) < 0)
        return -1;
    if (read_imds(machine, &user_data, failure) < 0 || check_serial(machine, failure) < 0)
        return -1;
    if (!machine->source.value && !machine->imds)
        return manifest_fail(&machine->spec, "volumes", "has no cloud-init volume",
                             "add a cloudInitNoCloud or cloudInitConfigDrive volume: "
                             "there is nothing to import",
                             failure);
    if (machine->config_drive)
        xml_set_attribute(machine->import->element, "datasource", "configdrive");
    if (add_hostname(machine, failure) < 0 || add_instance_id(machine, failure) < 0 ||
        add_instance_type(machine, failure) < 0)
        return -1;
    if (add_keys(machine, failure) < 0 || kubevirt_add_source(machine, failure) < 0)
        return -1;
    if (!machine->imds)
        return 0;
    if (user_data)
        import_add_data(machine->import, "user-data", user_data, strlen(user_data));
    if (manifest_get_text(&architecture, &machine->spec, "architecture", failure) < 0)
        return -1;
    /* s390x has no SMBIOS serial for the URL. */
    if (architecture && strcmp(architecture, "s390x") == 0)
        can_serve = "";
    import_note(machine->import,
                "what KubeVirt's metadata server would serve becomes a seed on a disk%s",
                can_serve);
    return 0;
}

static void
machine_clear(struct kubevirt_machine *machine)
{
    manifest_clear(&machine->spec);
    manifest_clear(&machine->annotations);
    manifest_clear(&machine->firmware);
    manifest_clear(&machine->source);
}

int
import_kubevirt(struct import *import, const char *data, size_t size, const char *name,
                struct failure **failure)
{
    __attribute__((cleanup(kubevirt_file_clear))) struct kubevirt_file file = {0};
    __attribute__((cleanup(machine_clear))) struct kubevirt_machine machine = {
        .import = import, .file = &file};

    if (kubevirt_file_read(&file, data, size, import, failure) < 0)
        return -1;
    machine.object = kubevirt_file_choose(&file, name, failure);
    if (!machine.object)
        return -1;
    if (add_machine(&machine, failure) < 0)
        return failure_prefix(failure, "%s '%.256s'", machine.object->kind,
                              machine.object->name ? machine.object->name : "");
    return 0;
}
