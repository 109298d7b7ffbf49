/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/print.h"
#include "cli/changes.h"
#include "cli/cli.h"
#include "cli/libvirt.h"
#include "cli/output.h"
#include "cli/source.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "import/import.h"
#include "store/secret.h"
#include "wire/wire.h"

struct options {
    const char *name;
    const char *output;
    const char *set;
    bool replace;
    bool secrets;
};

/* The systems whose documents can be read. */
static const struct format {
    const char *name;
    int (*read)(struct import *import, const char *data, size_t size, const char *name,
                struct failure **failure);
} formats[] = {
    {"kubevirt", import_kubevirt},
    {"ovirt", import_ovirt},
};

/* --- reading ---------------------------------------------------------------------- */

static int
read_file(struct buffer *data, const char *name, struct failure **failure)
{
    bool standard_input = strcmp(name, "-") == 0;
    cleanup_close int opened =
        standard_input ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int error;

    if (!standard_input && opened < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not open '%s'\n"
                                 "give the file of a manifest, or - for standard input",
                                 name);
    error = fs_read_all(standard_input ? STDIN_FILENO : opened, LIMIT_PART, data);
    if (error == -EFBIG) {
        failure_set(failure, FAILURE_LIMIT,
                    "larger than %lu MiB\n"
                    "leave away what is not about the virtual machine",
                    LIMIT_PART / MIB);
    } else if (error < 0) {
        failure_set_errno(failure, FAILURE_SYSTEM, error,
                          "could not read it\ngive the file of a manifest");
    }
    return error;
}

static int
read_import(struct import *import, const struct context *context, const char *machine,
            struct failure **failure)
{
    const char *system = context->operands[0];
    const char *name = context->operands[1];
    const struct format *format = NULL;
    cleanup_buffer struct buffer data = {0};

    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        if (strcmp(formats[i].name, system) == 0)
            format = &formats[i];
    }
    if (!format)
        return failure_set(
            failure, FAILURE_USAGE,
            "'%s' is no system to import from\n"
            "virt-seed import kubevirt FILE, or virt-seed import ovirt FILE",
            system);
    import->doc = request_new();
    import->element = xmlDocGetRootElement(import->doc);
    if (read_file(&data, name, failure) < 0 ||
        format->read(import, data.data, data.size, machine, failure) < 0 ||
        import_check(import, failure) < 0)
        return failure_prefix(failure, "%s",
                              strcmp(name, "-") == 0 ? "standard input" : name);
    return 0;
}

/* --- secrets ---------------------------------------------------------------------- */

/* Writes them with --secrets, and notes what is to be done about each. */
static int
write_secrets(struct import *import, const struct context *context,
              const struct options *options, struct failure **failure)
{
    for (size_t i = 0; i < import->secret_count; i++) {
        const struct import_secret *secret = &import->secrets[i];

        if (options->secrets && secret->key_count > 0 &&
            secret_write(context->root, secret->name, secret->keys, secret->key_count,
                         failure) < 0)
            return -1;
        if (options->secrets && secret->key_count > 0)
            import_note(import, "secret '%s' is in " SECRET_DIRECTORY "/%s", secret->name,
                        secret->name);
        else if (secret->key_count > 0)
            import_note(import,
                        "secret '%s' has to be in " SECRET_DIRECTORY
                        "/%s: --secrets writes it",
                        secret->name, secret->name);
        else
            import_note(import,
                        "secret '%s' is not in the file: put it into " SECRET_DIRECTORY
                        "/%s, a file for each key",
                        secret->name, secret->name);
    }
    return 0;
}

/* --- setting ---------------------------------------------------------------------- */

static int
put_element(struct source *source, const struct import *import, bool replace,
            struct wiring *wiring, struct failure **failure)
{
    xmlNode *root = xmlDocGetRootElement(source->doc);
    xmlNode *old = request_find(&source->domain);
    xmlNode *metadata = xml_child(root, "metadata");
    xmlNode *node = xmlDocCopyNode(import->element, source->doc, 1);

    if (old && !replace) {
        xmlFreeNode(node);
        return failure_set(failure, FAILURE_DOMAIN,
                           "domain '%s' has a request already\n"
                           "--replace puts the imported one in its place",
                           source->domain.name);
    }
    if (old) {
        cleanup_free char *was = xml_attribute(old, "smbios-was");

        /* What 'wire' noted in the element that is replaced stays true. */
        if (was)
            element_set(node, "smbios-was", was);
        xml_remove(old);
    }
    if (!metadata)
        metadata = xml_add_child(root, "metadata");
    xmlAddChild(metadata, node);
    wiring_note(wiring, old ? "request replaced" : "request added to <metadata>");
    return 0;
}

static int
set_domain(struct import *import, const struct context *context,
           const struct options *options, struct failure **failure)
{
    const struct changes_options nothing = {0};
    cleanup_source struct source source = {0};
    cleanup_wiring struct wiring wiring = {0};

    if (source_load_domain(&source, context, options->set, SOURCE_CHANGE, failure) < 0 ||
        (options->secrets && libvirt_require_local(source.connection, failure) < 0) ||
        put_element(&source, import, options->replace, &wiring, failure) < 0 ||
        write_secrets(import, context, options, failure) < 0)
        return -1;
    return changes_commit(&source, context, &nothing, "", &wiring, failure);
}

/* --- the command ------------------------------------------------------------------ */

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_import struct import import = {0};

    if (options->set && options->output)
        failure_set(failure, FAILURE_USAGE, "--set and --output exclude each other");
    else if (options->replace && !options->set)
        failure_set(failure, FAILURE_USAGE, "--replace belongs to --set");
    if (*failure) {
        failure_hint(failure, "print the element, or --set it in a domain");
        return STATUS_USAGE;
    }
    if (read_import(&import, context, options->name, failure) < 0)
        return STATUS_FAILURE;
    if (options->set) {
        if (set_domain(&import, context, options, failure) < 0)
            return STATUS_FAILURE;
    } else {
        cleanup_free char *text = element_format(import.doc);

        if (write_secrets(&import, context, options, failure) < 0 ||
            output_write(options->output, text, strlen(text), failure) < 0)
            return STATUS_FAILURE;
    }
    for (size_t i = 0; !context->quiet && i < import.note_count; i++)
        print_outside_line(stderr, "virt-seed: note: %s", import.notes[i]);
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "name", "NAME", name, "the virtual machine, if the file has several"),
    OPTION('o', "output", "OUTPUT", output, "write the element to this file instead"),
    OPTION(
        0, "set", "DOMAIN", set,
        "put the element into the definition of this domain of libvirt's; wire it with 'virt-seed wire'"),
    OPTION(0, "replace", NULL, replace,
           "with --set: in the place of the domain's own element"),
    OPTION(0, "secrets", NULL, secrets, "write the Secrets to this host's"),
    OPTION_END,
};

const struct command cmd_import = {
    .name = "import",
    .operands = "kubevirt|ovirt FILE|-",
    .summary = "take over what another system's manifest says to cloud-init",
    .help = "Prints the <cloud-init> element that asks for what KubeVirt or oVirt would\n"
            "give the guest. kubevirt: a file of manifests, in YAML or JSON, with a\n"
            "VirtualMachine or VirtualMachineInstance, and the Secrets it refers to.\n"
            "ovirt: a <vm> with <initialization>, or a domain's XML of oVirt's engine.\n"
            "What cannot be asked for is refused; nothing is taken over in part.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
