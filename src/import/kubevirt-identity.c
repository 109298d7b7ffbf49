/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What KubeVirt makes of a virtual machine's own fields: who the guest is, and who may log
 * in. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <uuid.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/guest-value.h"
#include "import/element.h"
#include "import/kubevirt.h"

/* --- the serial ------------------------------------------------------------------- */

static int
fail_serial(const struct manifest *firmware, const char *message,
            struct failure **failure)
{
    return manifest_fail(firmware, "serial", message,
                         "write 'ds=nocloud;KEY=VALUE;…' as cloud-init's NoCloud "
                         "documentation has it",
                         failure);
}

/* "ds=nocloud;s=http://192.0.2.1/;i=web1": DataSourceNoCloud, parse_cmdline_data(). */
static int
read_word(struct kubevirt_machine *machine, const struct manifest *firmware,
          const char *word, size_t length, struct failure **failure)
{
    cleanup_free char *copy = xstrndup(word, length);
    char *rest = copy;
    const char *name = strsep(&rest, ";");

    if (strcmp(name, "ds=nocloud") != 0 && strcmp(name, "ds=nocloud-net") != 0)
        return 0;
    if (!machine->serial)
        machine->serial = json_object();
    for (char *pair = strsep(&rest, ";"); pair; pair = strsep(&rest, ";")) {
        char *value = strchr(pair, '=');

        if (!*pair)
            continue;
        if (!value || value == pair || strlen(pair) > LIMIT_ENTRY_KEY ||
            !element_can_hold(pair, strlen(pair)))
            return fail_serial(firmware, "has a word that is no KEY=VALUE", failure);
        *value++ = '\0';
        if (json_object_set_new(machine->serial, pair, json_string(value)) < 0)
            abort();
    }
    return 0;
}

int
kubevirt_read_serial(struct kubevirt_machine *machine, struct failure **failure)
{
    cleanup_manifest struct manifest domain = {0}, firmware = {0};
    const char *text;

    if (manifest_get(&domain, &machine->spec, "domain", JSON_OBJECT, failure) < 0 ||
        manifest_get(&firmware, &domain, "firmware", JSON_OBJECT, failure) < 0 ||
        manifest_get_text(&text, &firmware, "serial", failure) < 0)
        return -1;
    while (text && *text) {
        size_t length = strcspn(text, " \t\n");

        if (read_word(machine, &firmware, text, length, failure) < 0)
            return -1;
        text += length + (text[length] ? 1 : 0);
    }
    return 0;
}

const char *
kubevirt_serial_text(const struct kubevirt_machine *machine, const char *key)
{
    const char *text = json_string_value(json_object_get(machine->serial, key));

    return text && *text ? text : NULL;
}

/* --- names ------------------------------------------------------------------------ */

/* Return: the host name, owned by the caller (free); NULL where it is not known yet.
 * `field` gets where it stands. */
static char *
choose_hostname(const struct kubevirt_machine *machine, const char *given,
                const char **field)
{
    const char *serial = kubevirt_serial_text(machine, "h");
    size_t label;

    *field = "metadata.name";
    if (serial) {
        *field = "firmware.serial";
        return xstrdup(serial);
    }
    if (machine->metadata_server)
        return machine->name ? xstrdup(machine->name) : NULL;
    if (given) {
        *field = "spec.hostname";
        return xstrdup(given);
    }
    if (!machine->name)
        return NULL;
    label = strcspn(machine->name, ".");
    return xstrndup(machine->name,
                    label < LIMIT_HOSTNAME_LABEL ? label : LIMIT_HOSTNAME_LABEL);
}

static int
add_hostname(struct import *import, const struct kubevirt_machine *machine,
             struct failure **failure)
{
    cleanup_free char *hostname = NULL;
    const char *given, *field;

    if (manifest_get_text(&given, &machine->spec, "hostname", failure) < 0)
        return -1;
    hostname = choose_hostname(machine, given, &field);
    if (!hostname) {
        import_note(import, "the machine has no name of its own: the domain's name "
                            "becomes its host name");
        return 0;
    }
    if (hostname_check(hostname, failure) < 0)
        return failure_prefix(failure, "%s", field);
    element_add_text(import->element, "hostname", hostname);
    return 0;
}

static int
get_firmware_uuid(const char **uuid, const struct kubevirt_machine *machine,
                  struct failure **failure)
{
    cleanup_manifest struct manifest domain = {0}, firmware = {0};
    uuid_t parsed;

    if (manifest_get(&domain, &machine->spec, "domain", JSON_OBJECT, failure) < 0 ||
        manifest_get(&firmware, &domain, "firmware", JSON_OBJECT, failure) < 0 ||
        manifest_get_text(uuid, &firmware, "uuid", failure) < 0)
        return -1;
    return !*uuid || uuid_parse(*uuid, parsed) == 0
               ? 0
               : manifest_fail(&firmware, "uuid", "is no UUID",
                               "write 32 hexadecimal digits with dashes, or remove it",
                               failure);
}

static int
add_instance_id(struct import *import, const struct kubevirt_machine *machine,
                struct failure **failure)
{
    const struct kubevirt_object *object = machine->object;
    cleanup_free char *name = NULL;
    const char *uuid, *id;

    if (get_firmware_uuid(&uuid, machine, failure) < 0)
        return -1;
    if (machine->metadata_server && machine->name)
        name = xasprintf("%s-%s", object->namespace ? object->namespace : "default",
                         machine->name);
    id = kubevirt_serial_text(machine, "i");
    if (!id)
        id = machine->metadata_server ? name : uuid;
    if (id)
        element_set(element_add_text(import->element, "instance-id", id), "policy",
                    "fixed");
    return 0;
}

/* A VirtualMachine's own field; KubeVirt makes the annotations of it. */
static int
get_instancetype(const char **type, const struct kubevirt_machine *machine,
                 struct failure **failure)
{
    cleanup_manifest struct manifest spec = {0}, instancetype = {0};

    return manifest_get(&spec, &machine->object->root, "spec", JSON_OBJECT, failure) <
                       0 ||
                   manifest_get(&instancetype, &spec, "instancetype", JSON_OBJECT,
                                failure) < 0
               ? -1
               : manifest_get_text(type, &instancetype, "name", failure);
}

static int
add_instance_type(struct import *import, const struct kubevirt_machine *machine,
                  struct failure **failure)
{
    const char *cluster, *namespaced, *own, *type;

    if (manifest_get_text(&cluster, &machine->annotations,
                          "kubevirt.io/cluster-instancetype-name", failure) < 0 ||
        manifest_get_text(&namespaced, &machine->annotations,
                          "kubevirt.io/instancetype-name", failure) < 0 ||
        get_instancetype(&own, machine, failure) < 0)
        return -1;
    type = cluster ? cluster : namespaced ? namespaced : own;
    /* The metadata server does not tell. */
    if (!type || machine->metadata_server)
        return 0;
    if (!element_can_hold(type, strlen(type)) || strlen(type) > LIMIT_ENTRY_KEY) {
        failure_set(failure, FAILURE_REQUEST, "the name of the instance type is no word");
        return failure_hint(failure, "correct kubevirt.io/instancetype-name");
    }
    element_add_text(import->element, "instance-type", type);
    return 0;
}

int
kubevirt_add_identity(struct import *import, const struct kubevirt_machine *machine,
                      struct failure **failure)
{
    return add_hostname(import, machine, failure) < 0 ||
                   add_instance_id(import, machine, failure) < 0 ||
                   add_instance_type(import, machine, failure) < 0
               ? -1
               : 0;
}

/* --- ssh keys --------------------------------------------------------------------- */

/* `by_cloud_init` says whether the keys come with the seed, or by the guest agent. */
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
                              "KubeVirt knows noCloud, configDrive and qemuGuestAgent",
                              failure) < 0)
        return -1;
    if (json_object_size(method.value) != 1)
        return manifest_fail(
            credential, "propagationMethod", "has not exactly one method",
            "keep one of noCloud, configDrive and qemuGuestAgent", failure);
    *by_cloud_init = !json_object_get(method.value, "qemuGuestAgent");
    if (!*by_cloud_init)
        return 0;
    if (!machine->source.value)
        return manifest_fail(credential, "propagationMethod",
                             "needs a cloud-init volume, and there is none",
                             "add a cloudInitNoCloud or cloudInitConfigDrive volume",
                             failure);
    if (json_object_get(method.value, ours))
        return 0;
    return manifest_fail(
        credential, "propagationMethod",
        "is for another kind of cloud-init volume than there is",
        machine->config_drive ? "write configDrive: {}" : "write noCloud: {}", failure);
}

static int
get_key_secret(const char **name, const struct manifest *credential,
               struct failure **failure)
{
    static const char *const fields[] = {"source", "propagationMethod", NULL};
    static const char *const sources[] = {"secret", NULL};
    static const char *const names[] = {"secretName", NULL};
    cleanup_manifest struct manifest source = {0}, secret = {0};
    const char *hint = "write source: {secret: {secretName: NAME}}";

    if (manifest_check_fields(credential, fields, hint, failure) < 0 ||
        manifest_get(&source, credential, "source", JSON_OBJECT, failure) < 0 ||
        manifest_check_fields(&source, sources, hint, failure) < 0 ||
        manifest_get(&secret, &source, "secret", JSON_OBJECT, failure) < 0 ||
        manifest_check_fields(&secret, names, hint, failure) < 0 ||
        manifest_get_text(name, &secret, "secretName", failure) < 0)
        return -1;
    return *name ? 0
                 : manifest_fail(credential, "source", "names no secret", hint, failure);
}

/* The first secret is the element's own, others are keys in it. */
static int
add_key_secret(struct import *import, const struct kubevirt_machine *machine,
               const struct manifest *credential, xmlNode **keys,
               struct failure **failure)
{
    const char *name;

    if (get_key_secret(&name, credential, failure) < 0 ||
        kubevirt_refer(import, machine, credential, "source", name, NULL, failure) < 0)
        return -1;
    if (!*keys) {
        *keys = element_add(import->element, "ssh-authorized-keys");
        element_set(*keys, "secret", name);
    } else if (!xmlStrEqual((*keys)->properties->children->content,
                            (const xmlChar *)name)) {
        element_set(element_add(*keys, "key"), "secret", name);
    }
    return 0;
}

static int
add_credential(struct import *import, const struct kubevirt_machine *machine,
               const struct manifest *item, xmlNode **keys, struct failure **failure)
{
    static const char *const known[] = {"sshPublicKey", "userPassword", NULL};
    cleanup_manifest struct manifest credential = {0};
    bool by_cloud_init = false;

    if (manifest_check_fields(item, known, "KubeVirt knows sshPublicKey and userPassword",
                              failure) < 0 ||
        manifest_get(&credential, item, "sshPublicKey", JSON_OBJECT, failure) < 0)
        return -1;
    if (!credential.value) {
        import_note(import, "%s is not for cloud-init, but for the guest's agent",
                    item->path);
        return 0;
    }
    if (read_propagation(machine, &credential, &by_cloud_init, failure) < 0)
        return -1;
    if (by_cloud_init)
        return add_key_secret(import, machine, &credential, keys, failure);
    import_note(import, "%s is not for cloud-init, but for the guest's agent",
                credential.path);
    return 0;
}

int
kubevirt_add_keys(struct import *import, const struct kubevirt_machine *machine,
                  struct failure **failure)
{
    cleanup_manifest struct manifest credentials = {0};
    xmlNode *keys = NULL;

    if (manifest_get(&credentials, &machine->spec, "accessCredentials", JSON_ARRAY,
                     failure) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(credentials.value); i++) {
        cleanup_manifest struct manifest item = {0};

        if (manifest_get_item(&item, &credentials, i, JSON_OBJECT, failure) < 0 ||
            add_credential(import, machine, &item, &keys, failure) < 0)
            return -1;
    }
    return 0;
}
