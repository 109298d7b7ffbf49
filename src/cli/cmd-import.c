/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/print.h"
#include "cli/changes.h"
#include "cli/cli.h"
#include "cli/libvirt.h"
#include "cli/output.h"
#include "cli/source.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "import/element.h"
#include "import/import.h"
#include "store/secret.h"
#include "wire/wire.h"

/* The systems whose documents can be read. */
static const struct format {
    const char *name;
    int (*read)(struct import *import, const char *data, size_t size, const char *name,
                struct failure **failure);
} formats[] = {
    {"kubevirt", import_kubevirt},
    {"ovirt", import_ovirt},
};

static const struct format *
find_format(const char *name, struct failure **failure)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    failure_set(failure, FAILURE_USAGE, "'%s' is no system to import from", name);
    failure_hint(failure, "virt-seed import kubevirt FILE, or virt-seed import ovirt "
                          "FILE");
    return NULL;
}

/* --- reading ---------------------------------------------------------------------- */

static int
read_file(struct buffer *data, const char *name, struct failure **failure)
{
    bool standard_input = strcmp(name, "-") == 0;
    cleanup_close int opened =
        standard_input ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int error;

    if (!standard_input && opened < 0) {
        failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not open '%s'", name);
        return failure_hint(failure, "give the file of a manifest, or - for standard "
                                     "input");
    }
    error = fs_read_all(standard_input ? STDIN_FILENO : opened, LIMIT_PART, data);
    if (error == -EFBIG) {
        failure_set(failure, FAILURE_LIMIT, "larger than %lu MiB", LIMIT_PART / MIB);
        failure_hint(failure, "leave away what is not about the virtual machine");
    } else if (error < 0) {
        failure_set_errno(failure, FAILURE_SYSTEM, error, "could not read it");
        failure_hint(failure, "give the file of a manifest");
    }
    return error;
}

static int
read_import(struct import *import, const struct arguments *arguments,
            struct failure **failure)
{
    const struct format *format = find_format(arguments->name, failure);
    const char *name = arguments->document;
    cleanup_buffer struct buffer data = {0};

    if (!format)
        return -1;
    if (!name) {
        failure_set(failure, FAILURE_USAGE, "'import %s' lacks the name of a file",
                    format->name);
        return failure_hint(failure, "virt-seed import %s FILE", format->name);
    }
    import->doc = element_new();
    import->element = xmlDocGetRootElement(import->doc);
    if (read_file(&data, name, failure) < 0 ||
        format->read(import, data.data, data.size, arguments->machine, failure) < 0 ||
        import_check(import, failure) < 0)
        return failure_prefix(failure, "%s",
                              strcmp(name, "-") == 0 ? "standard input" : name);
    return 0;
}

/* --- secrets ---------------------------------------------------------------------- */

static void
note_secret(struct import *import, const struct import_secret *secret, bool written)
{
    if (written && secret->key_count > 0)
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

static int
write_secrets(struct import *import, const struct context *context,
              const struct arguments *arguments, struct failure **failure)
{
    for (size_t i = 0; i < import->secret_count; i++) {
        const struct import_secret *secret = &import->secrets[i];

        if (arguments->secrets && secret->key_count > 0 &&
            secret_write(context->root, secret->name, secret->keys, secret->key_count,
                         failure) < 0)
            return -1;
        note_secret(import, secret, arguments->secrets);
    }
    return 0;
}

/* --- setting ---------------------------------------------------------------------- */

/* What 'wire' noted in the element that is replaced stays true. */
static void
keep_note(xmlNode *node, const xmlNode *replaced)
{
    cleanup_free char *was = xml_attribute(replaced, "smbios-was");

    if (was)
        element_set(node, "smbios-was", was);
}

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
        failure_set(failure, FAILURE_DOMAIN, "domain '%s' has a request already",
                    source->domain.name);
        return failure_hint(failure, "--replace puts the imported one in its place");
    }
    if (old) {
        keep_note(node, old);
        xml_remove(old);
    }
    if (!metadata)
        metadata = xml_add_child(root, "metadata");
    xmlAddChild(metadata, node);
    wiring_note(wiring, old ? "request replaced" : "request added to <metadata>");
    return 0;
}

static int
load_domain(struct source *source, const struct context *context,
            const struct arguments *arguments, struct failure **failure)
{
    const struct arguments domain = {.name = arguments->set, .is_domain = true};

    if (source_load(source, context, &domain, SOURCE_CHANGE, failure) < 0)
        return -1;
    return arguments->secrets ? libvirt_require_local(source->connection, failure) : 0;
}

static int
set_domain(struct import *import, const struct context *context,
           const struct arguments *arguments, struct failure **failure)
{
    const struct arguments nothing = {0};
    cleanup_source struct source source = {0};
    cleanup_wiring struct wiring wiring = {0};

    if (load_domain(&source, context, arguments, failure) < 0 ||
        put_element(&source, import, arguments->replace, &wiring, failure) < 0 ||
        write_secrets(import, context, arguments, failure) < 0)
        return -1;
    return changes_commit(&source, context, &nothing, "", &wiring, failure);
}

static int
print_element(struct import *import, const struct context *context,
              const struct arguments *arguments, struct failure **failure)
{
    cleanup_free char *text = element_format(import->doc);

    return write_secrets(import, context, arguments, failure) < 0
               ? -1
               : output_write(arguments->output, text, strlen(text), failure);
}

/* --- the command ------------------------------------------------------------------ */

static void
print_notes(const struct import *import)
{
    for (size_t i = 0; i < import->note_count; i++) {
        fputs("virt-seed: note: ", stderr);
        print_outside_string(stderr, import->notes[i]);
        putc('\n', stderr);
    }
}

static int
check_options(const struct arguments *arguments, struct failure **failure)
{
    if (arguments->set && arguments->output)
        failure_set(failure, FAILURE_USAGE, "--set and --output exclude each other");
    else if (arguments->replace && !arguments->set)
        failure_set(failure, FAILURE_USAGE, "--replace belongs to --set");
    else
        return 0;
    return failure_hint(failure, "print the element, or --set it in a domain");
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    cleanup_import struct import import = {0};

    if (check_options(arguments, failure) < 0 ||
        read_import(&import, arguments, failure) < 0)
        return STATUS_FAILURE;
    if (arguments->set ? set_domain(&import, context, arguments, failure) < 0
                       : print_element(&import, context, arguments, failure) < 0)
        return STATUS_FAILURE;
    if (!context->quiet)
        print_notes(&import);
    return STATUS_OK;
}

static const struct option options[] = {
    {"name", required_argument, NULL, OPTION_NAME},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"set", required_argument, NULL, OPTION_SET},
    {"replace", no_argument, NULL, OPTION_REPLACE},
    {"secrets", no_argument, NULL, OPTION_SECRETS},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_import = {
    .name = "import",
    .usage = "[OPTION]… kubevirt|ovirt FILE|-",
    .summary = "take over what another system's manifest says to cloud-init",
    .help =
        "Prints the <cloud-init> element that asks for what KubeVirt or oVirt would\n"
        "give the guest. kubevirt: a file of manifests, in YAML or JSON, with a\n"
        "VirtualMachine or VirtualMachineInstance, and the Secrets it refers to.\n"
        "ovirt: a <vm> with <initialization>, or a domain's XML of oVirt's engine.\n"
        "What cannot be asked for is refused; nothing is taken over in part.\n"
        "\n"
        "      --name=NAME      the virtual machine, where the file has several\n"
        "  -o, --output=OUTPUT  write the element to this file instead\n"
        "      --set=DOMAIN     put the element into the definition of this domain of\n"
        "                       libvirt's; wire it with 'virt-seed wire'\n"
        "      --replace        with --set: in the place of the domain's own element\n"
        "      --secrets        write the Secrets to this host's\n"
        "      --help           print this and exit\n",
    .options = options,
    .operands = 2,
    .run = run,
};
