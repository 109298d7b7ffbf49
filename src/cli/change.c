/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/scope.h"
#include "cli/change.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "domain/xml.h"
#include "host/answer.h"
#include "host/domain-text.h"
#include "host/maker.h"
#include "maker/maker.h"
#include "store/configuration.h"
#include "store/secret-write.h"

/* --- the element ------------------------------------------------------------------- */

#define UNSET_HINT "to remove the element, use 'virt-seed unset'"

int
definition_put_element(const struct domain *domain, const struct buffer *text,
                       struct failure **failure)
{
    xmlNode *old = request_find(domain);
    cleanup_xml xmlDoc *doc = NULL;
    xmlNode *root;

    if (strspn(buffer_text(text), " \t\r\n") == text->size)
        return failure_set(failure, FAILURE_XML, "the element is empty\n" UNSET_HINT);
    doc = xml_parse(text->data, text->size, "the element", failure);
    root = doc ? xmlDocGetRootElement(doc) : NULL;
    if (!root && (*failure)->line > 0) {
        /* There it is for a domain's XML. */
        free(steal((*failure)->hint));
        failure_hint(failure, "correct it there; virt-seed-xml(5) has examples");
    }
    if (!root)
        return -1;
    if (!vocabulary_is(root, "cloud-init"))
        return failure_set_at(failure, FAILURE_REQUEST, xml_line(root),
                              "the element is <%.64s>, expected <cloud-init> in the "
                              "namespace " REQUEST_NAMESPACE "\n"
                              "begin it with <ci:cloud-init xmlns:ci=\"" REQUEST_NAMESPACE
                              "\">; " UNSET_HINT,
                              (const char *)root->name);
    for (xmlNode *node = domain->root; node; node = xml_next_below(node, domain->root))
        node->line = 0;
    request_keep_notes(root, old);
    if (!old) {
        request_insert(domain, root);
        return 0;
    }
    xmlReplaceNode(old, xmlDocCopyNode(root, domain->root->doc, 1));
    xmlFreeNode(old);
    return 0;
}

/* --- wiring ----------------------------------------------------------------------- */

int
definition_wire(struct definition *definition, const struct context *context,
                struct wire_options options, struct wiring *wiring,
                struct failure **failure)
{
    /* Another host's paths mean nothing here: there the names of the disks decide, and
     * its own hook knows where its metadata server is. */
    cleanup_config struct config config = {0};
    int result = 0;

    if (!libvirt_is_remote(definition->connection)) {
        domain_read_labels(&definition->domain);
        result = config_read(&config, context->root, failure);
    }
    if (result == 0)
        result = maker_wire(&definition->domain, &config, options, wiring, failure);
    if (result < 0)
        return failure_prefix(failure, "domain '%s'", definition->domain.name);
    return 0;
}

/* --- back into libvirt ------------------------------------------------------------ */

static int
fail_changed(virDomainPtr domain, const char *when, struct failure **failure)
{
    return failure_set(failure, FAILURE_LIBVIRT,
                       "somebody else changed the definition of '%s' %s\n"
                       "make sure nothing else is editing it, and run the command again",
                       virDomainGetName(domain), when);
}

/* What is defined must have the request that was written, and our disk or address. */
static int
check_written(const struct definition *definition, const struct domain *written,
              struct failure **failure)
{
    cleanup_definition struct definition found = {0};
    cleanup_wire_facts struct wire_facts found_facts = {0};
    cleanup_wire_facts struct wire_facts written_facts = {0};
    cleanup_free char *found_url = NULL;
    cleanup_free char *written_url = NULL;

    if (definition_load_known(&found, definition->libvirt, failure) < 0)
        return -1;
    wire_facts_read(&found_facts, &found.domain);
    wire_facts_read(&written_facts, written);
    found_url = found_facts.url.address ? seed_url_word(&found_facts.url) : xstrdup("");
    written_url =
        written_facts.url.address ? seed_url_word(&written_facts.url) : xstrdup("");
    if (!found_facts.disk == !written_facts.disk && strcmp(found_url, written_url) == 0 &&
        request_is_same(request_find(&found.domain), request_find(written)))
        return 0;
    return fail_changed(definition->libvirt,
                        "at the same time, and what was written is gone", failure);
}

/* If the connection has ended, libvirt may have taken it. */
static int
fail_defined(struct definition *definition, const char *what, struct failure **failure)
{
    libvirt_fail(failure, "libvirt rejected the %s of '%s'", what,
                 virDomainGetName(definition->libvirt));
    definition->is_defined = virConnectIsAlive(definition->connection) != 1;
    return -1;
}

static int
read_definition(virDomainPtr domain, struct buffer *xml, struct failure **failure)
{
    cleanup_free char *text =
        virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE | VIR_DOMAIN_XML_SECURE);

    if (!text)
        return libvirt_fail(failure, "could not read domain '%s'",
                            virDomainGetName(domain));
    buffer_clear(xml);
    buffer_append_string(xml, text);
    return 0;
}

/* Defines the document, or writes the <cloud-init> element if that alone has changed.
 * Nothing but this is done between reading the definition again and writing it. */
static int
define(struct definition *definition, struct failure **failure)
{
    cleanup_domain struct domain written = {0};
    cleanup_free char *text = NULL;
    cleanup_buffer struct buffer now = {0};

    if (domain_read(&written, definition->doc, failure) < 0)
        return -1;
    if (definition->request_alone)
        text = request_format(request_find(&written));
    else
        text = xml_format(definition->doc);
    if (read_definition(definition->libvirt, &now, failure) < 0)
        return -1;
    /* It was loaded to be changed. */
    assert(definition->text);
    if (strcmp(now.data, definition->text) != 0)
        return fail_changed(definition->libvirt,
                            "while this command was running; nothing was written",
                            failure);
    if (definition->request_alone) {
        if (virDomainSetMetadata(definition->libvirt, VIR_DOMAIN_METADATA_ELEMENT, text,
                                 "ci", REQUEST_NAMESPACE, VIR_DOMAIN_AFFECT_CONFIG) < 0)
            return fail_defined(definition, "metadata", failure);
    } else {
        virDomainPtr defined = virDomainDefineXMLFlags(definition->connection, text, 0);

        if (!defined)
            return fail_defined(definition, "definition", failure);
        virDomainFree(defined);
    }
    definition->is_defined = true;
    return check_written(definition, &written, failure);
}

/* --- wiring without reading ----------------------------------------------------------- */

/* What a maker gives back must be the definition of the same domain: libvirt would change
 * another one. */
static int
check_identity(const struct buffer *xml, virDomainPtr domain, struct failure **failure)
{
    cleanup_domain_identity struct domain_identity identity = {0};
    char uuid[VIR_UUID_STRING_BUFLEN];

    if (domain_identity_read(&identity, xml, failure) < 0)
        return -1;
    if (virDomainGetUUIDString(domain, uuid) == 0 && strcmp(identity.uuid, uuid) == 0 &&
        strcmp(identity.name, virDomainGetName(domain)) == 0)
        return 0;
    return failure_set(failure, FAILURE_SYSTEM,
                       "the process that wires it gave another domain's definition\n"
                       "report this with the domain's XML");
}

/* Another host's paths mean nothing here: there the names of the disks decide. */
static void
answer_nothing(void *data, struct needs *needs)
{
}

static int
wire_text(const struct context *context, virConnectPtr connection,
          const struct buffer *xml, struct maker_result *wired, struct failure **failure)
{
    cleanup_config struct config config = {0};
    struct hello hello = {.role = MAKER_WIRE};
    struct answerer answerer = {.root = context->root};
    struct host host = {.data = &answerer, .answer = answerer_answer};

    if (libvirt_is_remote(connection))
        host.answer = answer_nothing;
    else if (config_read(&config, context->root, failure) < 0)
        return -1;
    hello.config = config.files;
    return maker_run(&hello, xml, &host, wired, failure);
}

int
definition_wire_in_libvirt(const struct context *context, virConnectPtr connection,
                           virDomainPtr domain, struct maker_result *wired,
                           struct failure **failure)
{
    cleanup_buffer struct buffer before = {0};
    cleanup_buffer struct buffer now = {0};
    cleanup_maker_result struct maker_result again = {0};
    virDomainPtr defined;

    if (definition_require(domain, failure) < 0 ||
        read_definition(domain, &before, failure) < 0 ||
        wire_text(context, connection, &before, wired, failure) < 0)
        return -1;
    if (wired->change_count == 0)
        return 0;
    if (check_identity(&wired->text, domain, failure) < 0 ||
        read_definition(domain, &now, failure) < 0)
        return -1;
    if (!buffer_is_same(&before, &now))
        return fail_changed(domain, "while this command was running; nothing was written",
                            failure);
    defined = virDomainDefineXMLFlags(connection, wired->text.data, 0);
    if (!defined)
        return libvirt_fail(failure, "libvirt rejected the definition of '%s'",
                            virDomainGetName(domain));
    virDomainFree(defined);
    if (read_definition(domain, &now, failure) < 0 ||
        wire_text(context, connection, &now, &again, failure) < 0)
        return -1;
    if (again.change_count > 0)
        return fail_changed(domain, "at the same time, and what was written is gone",
                            failure);
    return 1;
}

/* --- where it belongs --------------------------------------------------------------- */

/* Says what was changed, or with --dry-run would be. */
static void
print_changes(const struct definition *definition, const struct context *context,
              const struct change_options *options, const char *nothing,
              const struct wiring *wiring, FILE *stream)
{
    const char *name = definition->domain.name;

    if (wiring->change_count == 0) {
        print_outside_line(stream, "%s: %s", name, nothing);
        return;
    }
    if (options->summary)
        print_outside_line(stream, "%s: %s%s%s", name,
                           context->dry_run ? "would be " : "", options->summary,
                           definition->libvirt ? scope()->aside : "");
    for (size_t i = 0; i < wiring->change_count; i++) {
        if (!options->summary)
            print_outside_line(stream, "%s: %s", name, wiring->changes[i]);
        else if (context->verbose || context->dry_run)
            print_outside_line(stream, "  %s", wiring->changes[i]);
    }
}

int
definition_check_output(const struct definition *definition,
                        const struct context *context,
                        const struct change_options *options, struct failure **failure)
{
    const char *path = options->in_place ? definition->name : options->output;
    const bool to_libvirt = definition->libvirt && !path;
    const bool writes_xml = !to_libvirt && !context->dry_run;

    if (options->in_place && options->output)
        failure_set(failure, FAILURE_USAGE, "--in-place and --output cannot be combined");
    else if (options->in_place && (!path || strcmp(path, "-") == 0))
        failure_set(failure, FAILURE_USAGE, "--in-place needs a FILE");
    else if (context->json && writes_xml && output_is_standard(path))
        failure_set(failure, FAILURE_USAGE,
                    "--json and the XML cannot both go to standard output");
    if (*failure)
        return failure_hint(failure, "choose where the XML goes: --in-place or "
                                     "--output=OUTPUT");
    return 0;
}

/* What the domain no longer asks for is not kept; but the XML of a guest that runs, or was
 * saved, may still ask when it comes back. */
static void
remove_unused_passwords(const struct definition *definition, int root)
{
    cleanup_request struct request request = {0};
    cleanup_failure struct failure *missing = NULL;

    if (libvirt_is_remote(definition->connection))
        return;
    if (virDomainIsActive(definition->libvirt) != 0 ||
        virDomainHasManagedSaveImage(definition->libvirt, 0) != 0)
        return;
    if (request_read(&request, &definition->domain, &missing) == 0 ||
        missing->code == FAILURE_REQUEST_MISSING)
        passwords_remove_unused(root, definition->domain.uuid, &request.parts);
}

int
definition_commit(struct definition *definition, const struct context *context,
                  const struct change_options *options, const char *nothing,
                  const struct wiring *wiring, struct failure **failure)
{
    const char *path = options->in_place ? definition->name : options->output;
    const bool to_libvirt = definition->libvirt && !path;
    const bool writes_xml = !to_libvirt && !context->dry_run;
    const bool to_stdout = writes_xml && output_is_standard(path);
    const size_t count = wiring->change_count;
    const bool defines = to_libvirt && count > 0 && !context->dry_run;
    const char *name = definition->domain.name;

    if (definition_check_output(definition, context, options, failure) < 0)
        return -1;
    if (defines) {
        if (define(definition, failure) < 0)
            return -1;
        remove_unused_passwords(definition, context->root);
    }
    if (writes_xml) {
        cleanup_free char *text = xml_format(definition->doc);

        if (output_write(path, text, strlen(text), failure) < 0)
            return -1;
    }
    if (context->json) {
        json_print(json_pack("{s:s, s:o}", "domain", name, "changes",
                             json_texts(wiring->changes, count)));
        return 0;
    }
    if (context->quiet)
        return 0;
    print_changes(definition, context, options, nothing, wiring,
                  to_stdout ? stderr : stdout);
    if (defines && virDomainIsActive(definition->libvirt) == 1)
        print_outside_line(
            stdout, "%s: is running; the change takes effect at its next start", name);
    return 0;
}

/* --- several ------------------------------------------------------------------------ */

int
change_each(const struct context *context, const void *command_options,
            const struct change_options *options,
            int (*run)(const struct context *context, const void *command_options,
                       struct failure **failure),
            struct failure **failure)
{
    bool is_several = context->operand_count > 1;
    bool has_output = options->output != NULL;

    for (size_t i = 0; i < context->operand_count; i++) {
        const char *operand = context->operands[i];

        if (definition_is_file(operand))
            has_output = has_output || !options->in_place;
        else
            is_several = is_several || libvirt_is_pattern(operand);
    }
    if (has_output && is_several && !context->dry_run)
        return failure_set(failure, FAILURE_USAGE,
                           "the XML of several domains cannot go to one place\n"
                           "give --in-place for FILEs, or one domain at a time");
    return definition_each(context, command_options, run, failure);
}

/* --- its summary -------------------------------------------------------------------- */

json_t *
wiring_parts_read(const struct definition *definition, bool with_request)
{
    cleanup_domain struct domain domain = {0};
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *serial = NULL;
    json_t *parts = json_object();

    /* Disks of definition->domain may be gone after wiring. */
    if (domain_read(&domain, definition->doc, &ignored) < 0)
        return parts;
    wire_facts_read(&facts, &domain);
    serial = xml_text(domain_find_serial(&domain));
    if (facts.disk) {
        cleanup_free char *drive =
            xasprintf("%s %s", facts.disk->device, facts.disk->target);

        json_set(parts, drive, json_null());
    }
    if (strstr(serial, "ds="))
        json_set(parts, "serial", json_null());
    if (facts.reports)
        json_set(parts, "report channel", json_null());
    if (facts.logs)
        json_set(parts, "log channel", json_null());
    if (facts.uses_shim)
        json_set(parts, "through its emulator", json_null());
    if (with_request && request_find(&domain))
        json_set(parts, "<cloud-init>", json_null());
    return parts;
}

char *
wiring_parts_describe(const char *done, json_t *parts, const json_t *without)
{
    cleanup_buffer struct buffer list = {0};
    const char *word;
    json_t *ignored;

    json_object_foreach(parts, word, ignored) {
        if (!json_object_get(without, word))
            buffer_printf(&list, "%s%s", list.size > 0 ? ", " : "", word);
    }
    return list.size > 0 ? xasprintf("%s (%s)", done, list.data) : xstrdup(done);
}
