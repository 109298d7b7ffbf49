/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "domain/domain.h"
#include "domain/payload.h"
#include "wire/facts.h"
#include "wire/report.h"

void
wire_facts_read(struct wire_facts *facts, const struct domain *domain)
{
    cleanup_free char *own = seed_path(domain->uuid);

    *facts = (struct wire_facts){
        .disk = seed_path_find_disk(domain),
        .by_shim = domain_is_by_shim(domain),
        .seed_of_another = seed_url_is_of_another(domain),
        .reports = wire_report_is_there(domain),
        .report_of_another = wire_report_is_of_another(domain),
    };
    facts->own_url =
        seed_url_find(&facts->url, domain) && strcmp(facts->url.uuid, domain->uuid) == 0;
    for (size_t i = 0; i < domain->disk_count; i++) {
        const char *source = domain->disks[i].source;

        if (source && seed_path_is(source) && strcmp(source, own) != 0)
            facts->seed_of_another = true;
    }
    /* VDSM makes the image of a payload whose domain has no disk of ours. */
    facts->asks =
        request_find(domain) || facts->by_shim || (facts->disk && payload_find(domain));
}

bool
wire_facts_are_wired(const struct wire_facts *facts)
{
    return facts->disk || facts->by_shim || facts->own_url;
}

bool
wire_facts_report(const struct wire_facts *facts, const struct domain *domain,
                  const struct request *request)
{
    return facts->reports || (facts->by_shim && request_wants_report(request) &&
                              !wire_report_is_by_user(domain));
}

void
wire_facts_clear(struct wire_facts *facts)
{
    seed_url_clear(&facts->url);
}
