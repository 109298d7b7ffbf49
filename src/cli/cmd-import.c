/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/scope.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "import/import.h"
#include "store/secret-write.h"
#include "wire/wire.h"

struct options {
    const char *name;
    const char *output;
    const char *set;
    bool secrets;
    struct change_options change;
};

/* What can be read. */
enum {
    FORMAT_KUBEVIRT,
    FORMAT_OVIRT,
    FORMAT_SEED,
};

static const struct format {
    const char *name;
    int (*read)(struct import *import, const char *data, size_t size, const char *name,
                struct failure **failure);
} formats[] = {
    [FORMAT_KUBEVIRT] = {"kubevirt", import_kubevirt},
    [FORMAT_OVIRT] = {"ovirt", import_ovirt},
    [FORMAT_SEED] = {"seed", import_seed_file},
};

static const struct format *
find_format(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

/* Return: the format that the content looks like: oVirt's documents are XML, KubeVirt's YAML
 * or JSON. */
static const struct format *
guess_format(const struct buffer *data)
{
    const char *text = buffer_text(data);

    if (import_is_seed(text, data->size))
        return &formats[FORMAT_SEED];
    if (text[strspn(text, " \t\r\n")] == '<')
        return &formats[FORMAT_OVIRT];
    return &formats[FORMAT_KUBEVIRT];
}

static int
read_import(struct import *import, const struct context *context, const char *machine,
            struct failure **failure)
{
    const char *name = context->operands[context->operand_count - 1];
    const char *file = strcmp(name, "-") == 0 ? NULL : name;
    const struct format *format =
        context->operand_count > 1 ? find_format(context->operands[0]) : NULL;
    cleanup_buffer struct buffer data = {0};

    if (context->operand_count > 1 && !format)
        return failure_set(
            failure, FAILURE_USAGE,
            "cannot import from '%s'\n"
            "virt-seed import kubevirt FILE, virt-seed import ovirt FILE, or "
            "virt-seed import seed FILE",
            context->operands[0]);
    if (io_read(file, LIMIT_IMAGE, "give the file to import, or - for standard input",
                &data, failure) < 0)
        return -1;
    if (!format)
        format = guess_format(&data);
    if (format != &formats[FORMAT_SEED] && data.size > LIMIT_PART)
        return failure_set(failure, FAILURE_LIMIT,
                           "%s has more than %lu MiB, and is not an image\n"
                           "give a smaller file",
                           file ? file : "standard input", LIMIT_PART / MIB);
    import->doc = request_new();
    import->element = xmlDocGetRootElement(import->doc);
    if (format->read(import, data.data, data.size, machine, failure) < 0 ||
        import_check(import, failure) < 0)
        return failure_prefix(failure, "%s", file ? file : "standard input");
    return 0;
}

/* With --secrets, writes them; otherwise notes what the user must do about each. They stay if
 * the command fails afterwards: it takes those with the same content when it runs again. */
static int
write_secrets(struct import *import, const struct context *context,
              const struct options *options, struct failure **failure)
{
    for (size_t i = 0; i < import->secret_count; i++) {
        const struct import_secret *secret = &import->secrets[i];
        const bool writes =
            options->secrets && !context->dry_run && secret->key_count > 0;

        if (writes && secret_write(context->root, secret->name, secret->keys,
                                   secret->key_count, failure) < 0)
            return -1;
        if (writes)
            import_note(import, "secret '%s' is in %s/%s", secret->name, scope()->secrets,
                        secret->name);
        else if (secret->key_count > 0)
            import_note(import, "secret '%s' must be in %s/%s: --secrets writes it",
                        secret->name, scope()->secrets, secret->name);
        else
            import_note(import,
                        "secret '%s' is not in the file: put it into %s/%s, a file for "
                        "each key",
                        secret->name, scope()->secrets, secret->name);
    }
    return 0;
}

static int
put_element(struct definition *definition, const struct import *import, bool replace,
            struct wiring *wiring, struct failure **failure)
{
    xmlNode *old = request_find(&definition->domain);

    if (old && !replace)
        return failure_set(failure, FAILURE_DOMAIN,
                           "domain '%s' already has a <cloud-init> element\n"
                           "give --replace to replace it",
                           definition->domain.name);
    request_keep_notes(import->element, old);
    if (old)
        xml_remove(old);
    request_insert(&definition->domain, import->element);
    wiring_note(wiring,
                old ? "<cloud-init> replaced" : "<cloud-init> added to <metadata>");
    return 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_import struct import import = {.root = context->root};

    if (options->set && options->output)
        failure_set(failure, FAILURE_USAGE, "--set and --output cannot be combined");
    else if ((options->change.replace || context->dry_run) && !options->set)
        failure_set(failure, FAILURE_USAGE, "--%s needs --set",
                    options->change.replace ? "replace" : "dry-run");
    if (*failure)
        return failure_hint(failure,
                            "print the element, or put it into a domain with --set");
    if (read_import(&import, context, options->name, failure) < 0)
        return -1;
    if (options->set) {
        struct change_options change = options->change;
        cleanup_definition struct definition definition = {0};
        cleanup_wiring struct wiring wiring = {0};

        if (context->dry_run)
            change.summary = "changed";
        /* What cannot be wired is not written, and no secret either. */
        if (definition_load_domain(&definition, context, options->set, DEFINITION_CHANGE,
                                   failure) < 0)
            return -1;
        if (options->secrets && libvirt_require_local(definition.connection, failure) < 0)
            return -1;
        if (put_element(&definition, &import, change.replace, &wiring, failure) < 0 ||
            definition_wire(
                &definition, context,
                (struct wire_options){.replace = change.replace, .add_log = true},
                &wiring, failure) < 0 ||
            write_secrets(&import, context, options, failure) < 0)
            return -1;
        if (definition_commit(&definition, context, &change, "", &wiring, failure) < 0)
            return -1;
    } else {
        cleanup_free char *text = element_format(import.doc);

        if (write_secrets(&import, context, options, failure) < 0 ||
            output_write(options->output, text, strlen(text), failure) < 0)
            return -1;
    }
    for (size_t i = 0; !context->quiet && i < import.note_count; i++)
        print_outside_line(stderr, "virt-seed: note: %s", import.notes[i]);
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "name", "NAME", name, "the virtual machine, if the file has several"),
    OPTION('o', "output", "OUTPUT", output, "write the element to this file instead"),
    OPTION(0, "set", "DOMAIN", set,
           "put the element into the definition of this libvirt domain, and wire it"),
    OPTION(0, "replace", NULL, change.replace,
           "with --set: replace the domain's own element, and another tool's seed"),
    OPTION(0, "secrets", NULL, secrets, "also store the file's Secrets on this host"),
    OPTION_END,
};

const struct command cmd_import = {
    .name = "import",
    .operands = "[kubevirt|ovirt|seed] FILE|-",
    .summary = "import settings from KubeVirt, oVirt or a seed image",
    .help =
        "Prints the <cloud-init> element that asks for what KubeVirt, oVirt or another\n"
        "tool's seed would give the guest. kubevirt: a file of manifests, in YAML or\n"
        "JSON, with a VirtualMachine or VirtualMachineInstance, and the Secrets it refers\n"
        "to. ovirt: a <vm> with <initialization>, or a domain's XML of oVirt's engine.\n"
        "seed: an image, or a domain's XML with another tool's seed as a disk.\n"
        "Without a kind, virt-seed guesses it from the content. Unsupported fields are\n"
        "rejected, never dropped.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_DRY_RUN,
    .run = run,
};
