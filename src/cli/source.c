/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "cli/libvirt.h"
#include "cli/output.h"
#include "cli/source.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "store/pipeline.h"
#include "wire/wire.h"

static int
load_file(struct source *source, const char *argument, struct failure **failure)
{
    bool standard_input = strcmp(argument, "-") == 0;
    const char *origin = standard_input ? "standard input" : argument;
    cleanup_close int opened =
        standard_input ? -1 : open(argument, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    cleanup_buffer struct buffer text = {0};
    int error;

    source->name = argument;
    if (!standard_input && opened < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not open '%s'\n"
                                 "give a file with a domain's XML, or a domain's name",
                                 argument);
    error = fs_read_all(standard_input ? STDIN_FILENO : opened, LIMIT_DOMAIN_XML, &text);
    if (error == -EFBIG)
        return failure_set(failure, FAILURE_LIMIT,
                           "%s has more than %lu MiB\n"
                           "give a domain's XML, as 'virsh dumpxml' prints it",
                           origin, LIMIT_DOMAIN_XML / MIB);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not read %s",
                                 origin);
    source->doc = xml_parse(text.data, text.size, origin, failure);
    if (!source->doc)
        return -1;
    return domain_read(&source->domain, source->doc, failure) < 0
               ? failure_prefix(failure, "%s", origin)
               : 0;
}

/* Return: the definition, owned by the caller (free), or NULL. */
static char *
read_definition(virDomainPtr domain, unsigned int flags, struct failure **failure)
{
    char *text = virDomainGetXMLDesc(domain, flags | VIR_DOMAIN_XML_INACTIVE);

    if (!text)
        libvirt_fail(failure, "could not read domain '%s'", virDomainGetName(domain));
    return text;
}

int
source_load_domain(struct source *source, const struct context *context,
                   const char *argument, enum source_use use, struct failure **failure)
{
    bool change = use == SOURCE_CHANGE;
    cleanup_free char *text = NULL;
    int persistent;

    *source = (struct source){0};
    source->connection = libvirt_connect(context->uri, use == SOURCE_READ, failure);
    if (!source->connection)
        return failure_prefix(failure, "'%s' is no file, and so perhaps a domain",
                              argument);
    if (!change && libvirt_require_local(source->connection, failure) < 0)
        return -1;
    source->libvirt = libvirt_find_domain(source->connection, argument, failure);
    if (!source->libvirt)
        return failure_prefix(failure, "'%s' is no file", argument);
    persistent = change ? virDomainIsPersistent(source->libvirt) : 1;
    if (persistent < 0)
        return libvirt_fail(failure, "could not look at the domain");
    /* To define it would make it persistent. */
    if (persistent == 0)
        return failure_set(failure, FAILURE_DOMAIN,
                           "domain '%s' is transient: libvirt has no definition\n"
                           "wire the XML that it is created from",
                           virDomainGetName(source->libvirt));
    text = read_definition(source->libvirt, change ? VIR_DOMAIN_XML_SECURE : 0, failure);
    if (!text)
        return -1;
    source->doc = xml_parse(text, strlen(text), argument, failure);
    if (change)
        source->text = steal(text);
    return source->doc ? domain_read(&source->domain, source->doc, failure) : -1;
}

int
source_load(struct source *source, const struct context *context, enum source_use use,
            struct failure **failure)
{
    const char *name = context->operands[0];

    *source = (struct source){0};
    if (!context->is_domain &&
        (strcmp(name, "-") == 0 || strchr(name, '/') || access(name, F_OK) == 0))
        return load_file(source, name, failure);
    return source_load_domain(source, context, name, use, failure);
}

int
source_load_running(struct source *running, const struct source *source,
                    struct failure **failure)
{
    const char *name = virDomainGetName(source->libvirt);
    cleanup_free char *text = virDomainGetXMLDesc(source->libvirt, 0);

    *running = (struct source){0};
    if (!text)
        return libvirt_fail(failure, "could not read domain '%s'", name);
    running->doc = xml_parse(text, strlen(text), name, failure);
    return running->doc ? domain_read(&running->domain, running->doc, failure) : -1;
}

/* --- back into libvirt ------------------------------------------------------------ */

static int
fail_changed(const struct source *source, const char *when, struct failure **failure)
{
    const char *name = virDomainGetName(source->libvirt);

    return failure_set(failure, FAILURE_LIBVIRT,
                       "somebody else changed the definition of '%s' %s\n"
                       "see that nobody else is at it, and run the command again",
                       name, when);
}

static int
check_unchanged(const struct source *source, struct failure **failure)
{
    cleanup_free char *text =
        read_definition(source->libvirt, VIR_DOMAIN_XML_SECURE, failure);

    if (!text)
        return -1;
    if (strcmp(text, source->text) == 0)
        return 0;
    return fail_changed(source, "meanwhile: nothing was written", failure);
}

/* What is defined must have the request that was written, and our disk or address. */
static int
check_written(const struct source *source, struct failure **failure)
{
    const char *name = virDomainGetName(source->libvirt);
    cleanup_free char *text = read_definition(source->libvirt, 0, failure);
    cleanup_xml xmlDoc *doc = text ? xml_parse(text, strlen(text), name, failure) : NULL;
    cleanup_domain struct domain found = {0};
    cleanup_domain struct domain written = {0};
    cleanup_wire_facts struct wire_facts found_facts = {0};
    cleanup_wire_facts struct wire_facts written_facts = {0};
    cleanup_free char *found_url = NULL;
    cleanup_free char *written_url = NULL;
    bool same_url;

    if (!doc || domain_read(&found, doc, failure) < 0 ||
        domain_read(&written, source->doc, failure) < 0)
        return -1;
    wire_facts_read(&found_facts, &found);
    wire_facts_read(&written_facts, &written);
    if (found_facts.url.address)
        found_url = seed_url_word(&found_facts.url);
    if (written_facts.url.address)
        written_url = seed_url_word(&written_facts.url);
    same_url = found_url && written_url ? strcmp(found_url, written_url) == 0
                                        : !found_url && !written_url;
    if (!found_facts.disk == !written_facts.disk && same_url &&
        request_is_same(request_find(&found), request_find(&written)))
        return 0;
    return fail_changed(source, "at the same time, and what was written is gone",
                        failure);
}

int
source_define(struct source *source, struct failure **failure)
{
    size_t size;
    cleanup_free char *text = xml_format(source->doc, &size, failure);
    virDomainPtr defined;

    if (!text || check_unchanged(source, failure) < 0)
        return -1;
    defined = virDomainDefineXMLFlags(source->connection, text, 0);
    if (!defined)
        return libvirt_fail(failure, "libvirt did not take the definition of '%s'",
                            virDomainGetName(source->libvirt));
    virDomainFree(defined);
    return check_written(source, failure);
}

int
source_set_request(struct source *source, struct failure **failure)
{
    cleanup_domain struct domain domain = {0};
    cleanup_free char *text = NULL;

    if (domain_read(&domain, source->doc, failure) < 0 ||
        check_unchanged(source, failure) < 0)
        return -1;
    text = request_format(request_find(&domain));
    if (virDomainSetMetadata(source->libvirt, VIR_DOMAIN_METADATA_ELEMENT, text, "ci",
                             REQUEST_NAMESPACE, VIR_DOMAIN_AFFECT_CONFIG) < 0)
        return libvirt_fail(failure, "libvirt did not take the metadata of '%s'",
                            virDomainGetName(source->libvirt));
    return check_written(source, failure);
}

int
source_write(const struct source *source, const char *output, struct failure **failure)
{
    size_t size;
    cleanup_free char *text = xml_format(source->doc, &size, failure);

    return text ? output_write(output, text, size, failure) : -1;
}

/* --- the seed --------------------------------------------------------------------- */

int
source_make_seed(struct seed *seed, struct request *request, const struct domain *domain,
                 const struct context *context, bool show_secrets,
                 struct failure **denied, struct failure **failure)
{
    cleanup_config struct config config = {0};
    const struct pipeline pipeline = {
        .policy = denied ? PIPELINE_MASK : PIPELINE_STRICT,
        .root = context->root,
        .config = &config,
        .hides = denied && !show_secrets,
        .denied = denied,
    };

    if (domain_require_uuid(domain, failure) < 0 ||
        config_read(&config, context->root, failure) < 0)
        return -1;
    return pipeline_run(&pipeline, domain, request, seed, failure);
}

int
source_load_seed(struct seed *seed, struct source *source, const struct context *context,
                 bool show_secrets, struct failure **denied, struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (source_load(source, context, SOURCE_READ, failure) < 0)
        return -1;
    if (source_make_seed(seed, &request, &source->domain, context, show_secrets, denied,
                         failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    return 0;
}

void
source_clear(struct source *source)
{
    domain_clear(&source->domain);
    free(source->text);
    xmlFreeDoc(source->doc);
    if (source->libvirt)
        virDomainFree(source->libvirt);
    if (source->connection)
        virConnectClose(source->connection);
    *source = (struct source){0};
}
