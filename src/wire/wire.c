/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include <uuid.h>

#include "domain/xml.h"
#include "wire/disk.h"
#include "wire/report.h"
#include "wire/serial.h"
#include "wire/shim.h"
#include "wire/wire.h"

bool
wire_looks_like_amazon(const char *uuid)
{
    return strncmp(uuid, "ec2", 3) == 0 ||
           (uuid[4] == '2' && uuid[6] == 'e' && uuid[7] == 'c');
}

static int
add_uuid(struct domain *domain, struct wiring *wiring, struct failure **failure)
{
    xmlNode *name = xml_child(domain->root, "name");
    xmlNode *node = xml_child(domain->root, "uuid");
    uuid_t uuid;

    if (!name)
        return failure_set(failure, FAILURE_DOMAIN, "the domain has no <name>");
    do {
        uuid_generate_random(uuid);
        uuid_unparse_lower(uuid, domain->uuid);
    } while (wire_looks_like_amazon(domain->uuid));
    if (!node)
        node = xml_add_after(name, "uuid");
    xmlNodeSetContent(node, (const xmlChar *)domain->uuid);
    wiring_note(wiring, "UUID given");
    return 0;
}

/* The shim adds all of it itself: what is in the XML goes. */
static int
wire_for_shim(struct domain *domain, const struct request *request,
              const struct wire_options *options, struct wiring *wiring,
              struct failure **failure)
{
    if (wire_shim_check(request, failure) < 0 ||
        wire_remove_foreign(domain, options, wiring, failure) < 0)
        return -1;
    wire_remove(domain, wiring);
    return wire_shim_serial(domain, request, failure) ? 0 : -1;
}

static int
wire_seed(struct domain *domain, const struct request *request,
          const struct wire_options *options, struct wiring *wiring,
          struct failure **failure)
{
    int result = request_has_disk(request)
                     ? wire_disk(domain, request, options, wiring, failure)
                     : wire_no_disk(domain, options, wiring, failure);

    return result < 0 ? -1 : wire_serial(domain, request, options, wiring, failure);
}

int
wire_domain(struct domain *domain, const struct request *request,
            const struct wire_options *options, struct wiring *wiring,
            struct failure **failure)
{
    bool by_shim = domain_is_by_shim(domain);
    bool of_another;

    if (!by_shim && !*domain->uuid && add_uuid(domain, wiring, failure) < 0)
        return -1;
    of_another = wire_report_is_of_another(domain);
    if ((by_shim ? wire_for_shim(domain, request, options, wiring, failure)
                 : wire_seed(domain, request, options, wiring, failure)) < 0)
        return -1;
    wiring->needed = wiring->change_count > 0;
    if (!by_shim)
        wire_report(domain, request, wiring);
    if (!of_another)
        return 0;
    /* Another's report would be written by this guest, and would be taken for the other's.
     * What is still there is a device of the user's. */
    wiring->needed = true;
    return wire_report_check(domain, failure);
}

void
wire_remove(struct domain *domain, struct wiring *wiring)
{
    wire_remove_disk(domain, wiring);
    wire_remove_serial(domain, wiring);
    wire_remove_report(domain, wiring);
}

void
wire_remove_request(struct domain *domain, struct wiring *wiring)
{
    xmlNode *node = request_find(domain);
    xmlNode *metadata;

    if (!node)
        return;
    metadata = node->parent;
    xml_remove(node);
    if (!xml_first_element(metadata))
        xml_remove(metadata);
    wiring_note(wiring, "request removed from <metadata>");
}
