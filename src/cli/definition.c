/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "cli/changes.h"
#include "cli/definition.h"
#include "cli/source.h"
#include "domain/xml.h"

static bool
asks(const struct domain *domain)
{
    cleanup_wire_facts struct wire_facts facts = {0};

    wire_facts_read(&facts, domain);
    return facts.asks;
}

int
definition_wire(const struct context *context, virConnectPtr connection,
                virDomainPtr domain, struct wiring *wiring, struct failure **failure)
{
    const struct changes_options options = {0};
    cleanup_source struct source source = {0};

    if (source_load_definition(&source, connection, domain, failure) < 0)
        return -1;
    if (!asks(&source.domain))
        return DEFINITION_ASKS_NOTHING;
    if (changes_wire(&source, context, &options, wiring, failure) < 0)
        return -1;
    if (wiring->change_count == 0)
        return DEFINITION_WAS_WIRED;
    return source_define(&source, failure) < 0 ? -1 : DEFINITION_WIRED_NOW;
}

bool
definition_asks(virDomainPtr domain)
{
    cleanup_free char *text = virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE);
    cleanup_failure struct failure *ignored = NULL;
    cleanup_xml xmlDoc *doc =
        text ? xml_parse(text, strlen(text), virDomainGetName(domain), &ignored) : NULL;
    cleanup_domain struct domain read = {0};

    return doc && domain_read(&read, doc, &ignored) == 0 && asks(&read);
}
