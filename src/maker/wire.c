/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/scope.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "host/datasource.h"
#include "maker/maker.h"

void
need_labels(const struct domain *domain, struct needs *needs)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        if (disk_may_have_label(&domain->disks[i]))
            needs_add(needs, NEED_LABEL, domain->disks[i].source);
    }
}

/* The answers are in the order of the disks. */
void
take_labels(struct domain *domain, const struct needs *needs)
{
    size_t at = 0;

    for (size_t i = 0; i < domain->disk_count; i++) {
        struct disk *disk = &domain->disks[i];

        if (!disk_may_have_label(disk))
            continue;
        while (needs->list[at].kind != NEED_LABEL)
            at++;
        disk->label = needs->list[at].word;
        at++;
    }
}

/* Writes the host's default datasource into the element, if that chooses none and the domain
 * is not wired: from then on the definition says it, to every host. */
static int
add_default_datasource(struct domain *domain, const struct config *config,
                       struct request *request, struct wiring *wiring,
                       struct failure **failure)
{
    const char *name = config->default_datasource.value;
    xmlNode *element = request_find(domain);
    cleanup_wire_facts struct wire_facts facts = {0};

    if (!name || !element || request->payload)
        return 0;
    if (datasource_find(name)->over_http && !scope()->imds_tree)
        return 0;
    if (xmlHasProp(element, (const xmlChar *)"datasource"))
        return 0;
    wire_facts_read(&facts, domain);
    if (wire_facts_are_wired(&facts) || facts.seed_of_another)
        return 0;
    xml_set_attribute(element, "datasource", name);
    wiring_note(wiring, "datasource=\"%s\" added, from %s", name,
                config->default_datasource.file);
    request_clear(request);
    return request_read(request, domain, failure);
}

int
maker_wire(struct domain *domain, const struct config *config,
           struct wire_options options, struct wiring *wiring, struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (request_read(&request, domain, failure) < 0 ||
        add_default_datasource(domain, config, &request, wiring, failure) < 0)
        return -1;
    options.imds_address = config->imds_address;
    return wire_domain(domain, &request, &options, wiring, failure);
}

int
maker_wire_definition(const struct buffer *xml, const struct config *config,
                      const struct host *host, struct maker_result *result,
                      struct failure **failure)
{
    cleanup_xml xmlDoc *doc = xml_parse(xml->data, xml->size, "its definition", failure);
    cleanup_domain struct domain domain = {0};
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_needs struct needs needs = {0};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_free char *text = NULL;

    if (!doc || domain_read(&domain, doc, failure) < 0)
        return -1;
    /* libvirt's always has one, and no UUID may come from a maker. */
    if (domain_require_uuid(&domain, failure) < 0)
        return -1;
    wire_facts_read(&facts, &domain);
    if (!facts.wants_seed) {
        cleanup_free char *name = xshellquote(domain.name);

        return failure_set(
            failure, FAILURE_REQUEST_MISSING,
            "domain '%s' does not ask for cloud-init\n"
            "give it a request: virt-seed set %s --ssh-key=FILE --user-data=FILE; or start "
            "it without a seed: virsh start %s",
            domain.name, name, name);
    }
    need_labels(&domain, &needs);
    host->answer(host->data, &needs);
    take_labels(&domain, &needs);
    if (maker_wire(&domain, config, (struct wire_options){0}, &wiring, failure) < 0)
        return failure_prefix(failure, "domain '%s'", domain.name);
    text = xml_format(doc);
    buffer_append_string(&result->text, text);
    result->changes = steal(wiring.changes);
    result->change_count = steal(wiring.change_count);
    return 0;
}
