/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <libvirt/virterror.h>

#include "cli/definition.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "domain/xml.h"
#include "store/configuration.h"
#include "store/pipeline.h"
#include "wire/wire.h"

static int
load_file(struct definition *definition, const char *argument, struct failure **failure)
{
    const bool standard_input = strcmp(argument, "-") == 0;
    const char *origin = standard_input ? "standard input" : argument;
    cleanup_buffer struct buffer text = {0};

    definition->name = argument;
    if (io_read(standard_input ? NULL : argument, LIMIT_DOMAIN_XML,
                "give a file with a domain's XML, or a domain's name", &text,
                failure) < 0)
        return -1;
    definition->doc = xml_parse(text.data, text.size, origin, failure);
    if (!definition->doc)
        return -1;
    if (domain_read(&definition->domain, definition->doc, failure) < 0)
        return failure_prefix(failure, "%s", origin);
    definition->domain.file = standard_input ? NULL : argument;
    return 0;
}

/* Finds where the disk's volume is. If libvirt does not find it, it is known by its name
 * alone. */
static void
find_volume(struct disk *disk, virConnectPtr connection)
{
    const xmlNode *source = xml_child(disk->node, "source");
    cleanup_free char *pool_name = xml_attribute(source, "pool");
    virStoragePoolPtr pool = virStoragePoolLookupByName(connection, pool_name);
    virStorageVolPtr volume = pool ? virStorageVolLookupByName(pool, disk->name) : NULL;

    if (volume) {
        disk->source = virStorageVolGetPath(volume);
        virStorageVolFree(volume);
    }
    if (pool)
        virStoragePoolFree(pool);
}

/* Reads the XML of libvirt's domain; its definition with VIR_DOMAIN_XML_INACTIVE. */
static int
read_xml(struct definition *definition, virDomainPtr libvirt, unsigned int flags,
         struct failure **failure)
{
    const char *name = virDomainGetName(libvirt);
    struct domain *domain = &definition->domain;

    definition->text = virDomainGetXMLDesc(libvirt, flags);
    if (!definition->text)
        return libvirt_fail(failure, "could not read domain '%s'", name);
    definition->doc =
        xml_parse(definition->text, strlen(definition->text), name, failure);
    if (!definition->doc || domain_read(domain, definition->doc, failure) < 0)
        return -1;
    for (size_t i = 0; i < domain->disk_count; i++) {
        if (domain->disks[i].is_volume)
            find_volume(&domain->disks[i], virDomainGetConnect(libvirt));
    }
    return 0;
}

int
definition_require(virDomainPtr domain, struct failure **failure)
{
    const int persistent = virDomainIsPersistent(domain);

    if (persistent < 0)
        return libvirt_fail(failure, "could not look at the domain");
    if (persistent > 0)
        return 0;
    return failure_set(failure, FAILURE_DOMAIN,
                       "domain '%s' is transient: libvirt has no definition\n"
                       "wire the XML that it is created from",
                       virDomainGetName(domain));
}

/* Reads that of definition->libvirt, with its passwords if it is to change. */
static int
read_libvirt(struct definition *definition, enum definition_use use,
             struct failure **failure)
{
    const bool change = use == DEFINITION_CHANGE;
    const unsigned int secure = change ? VIR_DOMAIN_XML_SECURE : 0;

    /* To define it would make it persistent. */
    if ((change || use == DEFINITION_TRIAL) &&
        definition_require(definition->libvirt, failure) < 0)
        return -1;
    return read_xml(definition, definition->libvirt, VIR_DOMAIN_XML_INACTIVE | secure,
                    failure);
}

bool
definition_is_file(const char *operand)
{
    const char *suffix = strrchr(operand, '.');
    bool is_xml = suffix && strcmp(suffix, ".xml") == 0;

    return is_xml || strcmp(operand, "-") == 0 || strchr(operand, '/');
}

int
definition_load_domain(struct definition *definition, const struct context *context,
                       const char *argument, enum definition_use use,
                       struct failure **failure)
{
    const bool is_trial = use == DEFINITION_TRIAL;

    *definition = (struct definition){0};
    if (is_trial || use == DEFINITION_CHANGE)
        definition->connection = libvirt_connect(context->uri, is_trial, failure);
    else
        definition->connection =
            libvirt_connect_here(context, use == DEFINITION_READ, failure);
    if (!definition->connection)
        return -1;
    definition->libvirt = libvirt_find_domain(definition->connection, argument, failure);
    return definition->libvirt ? read_libvirt(definition, use, failure) : -1;
}

/* A file that is named without its directory is taken for a domain. */
static int
hint_at_file(const char *name, struct failure **failure)
{
    cleanup_free char *path = xasprintf("./%s", name);
    cleanup_free char *word = xshellquote(path);
    cleanup_free char *hint = NULL;
    const bool is_missing = (*failure)->code == FAILURE_DOMAIN_MISSING ||
                            (*failure)->code == FAILURE_LIBVIRT_MISSING;
    struct stat status;

    if (!is_missing || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return -1;
    hint = steal((*failure)->hint);
    return failure_hint(failure, "for the file, write %s; %s", word, hint ? hint : "");
}

int
definition_load(struct definition *definition, const struct context *context,
                enum definition_use use, struct failure **failure)
{
    const char *name = context->operands[0];

    *definition = (struct definition){0};
    if (definition_is_file(name))
        return load_file(definition, name, failure);
    if (definition_load_domain(definition, context, name, use, failure) == 0)
        return 0;
    return hint_at_file(name, failure);
}

int
definition_load_known(struct definition *definition, virDomainPtr domain,
                      struct failure **failure)
{
    virDomainRef(domain);
    *definition = (struct definition){.libvirt = domain};
    return read_libvirt(definition, DEFINITION_READ, failure);
}

int
definition_load_running(struct definition *running, virDomainPtr domain,
                        struct failure **failure)
{
    *running = (struct definition){0};
    return read_xml(running, domain, 0, failure);
}

void
definition_clear(struct definition *definition)
{
    domain_clear(&definition->domain);
    free(definition->text);
    xmlFreeDoc(definition->doc);
    if (definition->libvirt)
        virDomainFree(definition->libvirt);
    if (definition->connection)
        virConnectClose(definition->connection);
    *definition = (struct definition){0};
}

/* Adds what one operand stands for. */
static int
expand(struct operands *operands, virConnectPtr connection, const char *operand,
       struct failure **failure)
{
    if (definition_is_file(operand) || !connection) {
        if (!texts_have(operands->list, operands->count, operand))
            texts_add(&operands->list, &operands->count, xstrdup(operand));
        return 0;
    }
    return libvirt_expand(connection, operand, &operands->list, &operands->count,
                          failure);
}

int
operands_expand(struct operands *operands, const struct context *context,
                virConnectPtr connection, struct failure **failure)
{
    cleanup_connection virConnectPtr own = NULL;

    /* A pattern may stand for what is also named. */
    for (size_t i = 0; !connection && i < context->operand_count; i++) {
        const char *operand = context->operands[i];

        if (definition_is_file(operand) || !libvirt_is_pattern(operand))
            continue;
        connection = own = libvirt_connect(context->uri, true, failure);
        if (!connection)
            return -1;
    }
    for (size_t i = 0; i < context->operand_count; i++) {
        cleanup_failure struct failure *failed = NULL;

        if (expand(operands, connection, context->operands[i], &failed) == 0)
            continue;
        if (context->operand_count == 1 || failed->code != FAILURE_DOMAIN_MISSING) {
            *failure = steal(failed);
            return -1;
        }
        print_failure(failed);
        operands->is_incomplete = true;
    }
    return 0;
}

int
definition_each(const struct context *context, const void *options,
                int (*run)(const struct context *context, const void *options,
                           struct failure **failure),
                struct failure **failure)
{
    cleanup_operands struct operands operands = {0};
    struct context one = *context;
    int worst = STATUS_OK;

    if (operands_expand(&operands, context, NULL, failure) < 0)
        return -1;
    if (operands.is_incomplete)
        worst = STATUS_FAILURE;
    one.operand_count = 1;
    one.is_one_of_several = operands.count > 1 || operands.is_incomplete;
    for (size_t i = 0; i < operands.count; i++) {
        cleanup_failure struct failure *failed = NULL;
        int status;

        one.operands = &operands.list[i];
        status = run(&one, options, &failed);
        if (failed && (!one.is_one_of_several || failed->code == FAILURE_USAGE)) {
            *failure = steal(failed);
            return -1;
        }
        if (failed) {
            fflush(stdout);
            print_failure(failed);
            status = STATUS_FAILURE;
        }
        /* A failure is worse than what is found, whatever its number. */
        if (status == STATUS_FAILURE || worst == STATUS_OK)
            worst = status;
    }
    return worst;
}

/* Return: whether the domain asks for a seed, or has an XML that libvirt cannot send. */
static bool
may_ask(virDomainPtr domain)
{
    cleanup_definition struct definition definition = {0};
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_failure struct failure *failure = NULL;

    if (definition_load_known(&definition, domain, &failure) < 0)
        return failure->code == FAILURE_LIBVIRT &&
               virGetLastErrorCode() != VIR_ERR_NO_DOMAIN;
    wire_facts_read(&facts, &definition.domain);
    return facts.wants_seed;
}

int
definition_list_asking(virConnectPtr connection, unsigned int flags, char ***uuids,
                       size_t *count, struct failure **failure)
{
    virDomainPtr *domains = NULL;
    int domain_count = virConnectListAllDomains(connection, &domains, flags);

    if (domain_count < 0)
        return libvirt_fail(failure, "could not list the domains");
    for (int i = 0; i < domain_count; i++) {
        char uuid[VIR_UUID_STRING_BUFLEN];

        if (may_ask(domains[i]) && virDomainGetUUIDString(domains[i], uuid) == 0)
            texts_add(uuids, count, xstrdup(uuid));
        virDomainFree(domains[i]);
    }
    free(domains);
    return 0;
}

int
definition_make_seed(struct seed *seed, struct request *request,
                     const struct domain *domain, const struct context *context,
                     bool show_secrets, struct failure **denied, struct failure **failure)
{
    cleanup_config struct config config = {0};
    const struct pipeline pipeline = {
        .policy = denied ? PIPELINE_MASK : PIPELINE_STRICT,
        .config = &config,
        .hides = denied && !show_secrets,
        .denied = denied,
    };

    if (domain_require_uuid(domain, failure) < 0 ||
        config_read(&config, context->root, failure) < 0 ||
        pipeline_read(&pipeline, context->root, domain, request, failure) < 0)
        return -1;
    return seed_make(seed, request, failure);
}

int
definition_load_seed(struct seed *seed, struct request *request,
                     struct definition *definition, const struct context *context,
                     bool show_secrets, struct failure **denied, struct failure **failure)
{
    if (definition_load(definition, context, DEFINITION_READ, failure) < 0)
        return -1;
    if (definition_make_seed(seed, request, &definition->domain, context, show_secrets,
                             denied, failure) < 0)
        return failure_prefix(failure, "domain '%s'", definition->domain.name);
    return 0;
}
