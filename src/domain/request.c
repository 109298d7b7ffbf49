/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "domain/guest-value.h"
#include "domain/request.h"
#include "domain/xml.h"

/* oVirt's payload is no element's. */
static const char *const datasources[] = {
    [DATASOURCE_NOCLOUD] = "nocloud",
    [DATASOURCE_CONFIGDRIVE] = "configdrive",
    [DATASOURCE_NOCLOUD_NET] = "nocloud-net",
    [DATASOURCE_PAYLOAD] = "payload",
};

const char *
request_datasource_name(enum datasource datasource)
{
    return datasources[datasource];
}

xmlNode *
request_find(const struct domain *domain)
{
    xmlNode *node = xml_first_element(xml_child(domain->root, "metadata"));

    while (node && !vocabulary_is(node, "cloud-init"))
        node = xml_next_element(node);
    return node;
}

char *
request_hostname(const struct request *request)
{
    const struct domain *domain = request->domain;

    return request->hostname ? xstrdup(request->hostname)
                             : hostname_from_domain(domain->name, domain->uuid);
}

bool
request_is_by_label(const struct request *request)
{
    return request->datasource == DATASOURCE_CONFIGDRIVE ||
           (request->payload && strcasecmp(request->payload->volume_id, "cidata") != 0);
}

bool
request_is_nocloud(const struct request *request)
{
    return request->datasource == DATASOURCE_NOCLOUD ||
           request->datasource == DATASOURCE_NOCLOUD_NET;
}

bool
request_has_disk(const struct request *request)
{
    return request->datasource != DATASOURCE_NOCLOUD_NET;
}

bool
request_wants_report(const struct request *request)
{
    return request->report && request->datasource != DATASOURCE_PAYLOAD &&
           !domain_is_windows(request->domain);
}

static void
clear_content(struct request *request)
{
    texts_free(request->ssh_keys, request->ssh_key_count);
    for (size_t i = 0; i < request->meta_data_count; i++) {
        free(request->meta_data[i].key);
        free(request->meta_data[i].value);
    }
    free(request->meta_data);
    free(request->instance_type);
    network_free(request->network);
    initialization_free(request->initialization);
    parts_clear(&request->parts);
    payload_free(request->payload);
}

void
request_keep_identity(struct request *request)
{
    clear_content(request);
    *request = (struct request){
        .domain = request->domain,
        .line = request->line,
        .datasource = request->datasource,
        .bus = request->bus,
        .serial = request->serial,
        .report = request->report,
        .cache = request->cache,
        .until_done = request->until_done,
        .hostname = request->hostname,
        .instance_id_policy = request->instance_id_policy,
        .instance_id = request->instance_id,
    };
}

void
request_clear(struct request *request)
{
    clear_content(request);
    free(request->hostname);
    free(request->instance_id);
    *request = (struct request){0};
}
