/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/interface.h"
#include "domain/xml.h"
#include "seed/json.h"
#include "seed/network-config.h"
#include "seed/yaml.h"

static bool
is_one_of(const char *value, const char *first, const char *second)
{
    return value && (strcmp(value, first) == 0 || (second && strcmp(value, second) == 0));
}

static int
check_version(const char *version, const char *config, struct failure **failure)
{
    if (is_one_of(version, "1", "2") || is_one_of(config, "disabled", NULL))
        return 0;
    if (version)
        failure_set(failure, FAILURE_NETWORK_CONFIG,
                    "has a version that is neither 1 nor 2");
    else
        failure_set(failure, FAILURE_NETWORK_CONFIG,
                    "has no version, and cloud-init would ignore it");
    return failure_hint(failure, "begin with 'version: 2'");
}

int
network_config_check(const char *data, size_t size, struct failure **failure)
{
    struct yaml_query queries[] = {
        {.path = {"version"}},
        {.path = {"network", "version"}},
        {.path = {"config"}},
        {.path = {"network", "config"}},
    };
    int result = yaml_read(data, size, YAML_MAPPING, queries, 4, failure);
    cleanup_free char *version = queries[0].value;
    cleanup_free char *wrapped_version = queries[1].value;
    cleanup_free char *config = queries[2].value;
    cleanup_free char *wrapped_config = queries[3].value;

    if (result < 0)
        return -1;
    return check_version(wrapped_version ? wrapped_version : version,
                         wrapped_config ? wrapped_config : config, failure);
}

/* --- network_data.json -------------------------------------------------------------- */

static bool
has_interface(const struct interfaces *interfaces, const char *mac)
{
    for (size_t i = 0; i < interfaces->count; i++) {
        if (interfaces->items[i].mac && strcmp(interfaces->items[i].mac, mac) == 0)
            return true;
    }
    return false;
}

static int
check_link(const json_t *link, size_t index, const struct interfaces *interfaces,
           struct failure **failure)
{
    const char *text = json_string_value(json_object_get(link, "ethernet_mac_address"));
    cleanup_free char *mac = text ? interface_normalize_mac(text) : NULL;

    if (!text || (mac && has_interface(interfaces, mac)))
        return 0;
    failure_set(
        failure, FAILURE_NETWORK_CONFIG,
        "links[%zu] has an ethernet_mac_address that no interface of the domain has",
        index);
    return failure_hint(failure, "correct it, or write from=\"interfaces\"");
}

static int
check_links(const json_t *links, const struct domain *domain, struct failure **failure)
{
    cleanup_interfaces struct interfaces interfaces = {0};
    size_t index;
    json_t *link;

    if (xml_child(xml_child(domain->root, "devices"), "hostdev"))
        return 0;
    if (interfaces_read(&interfaces, domain, failure) < 0)
        return -1;
    json_array_foreach((json_t *)links, index, link)
    {
        if (check_link(link, index, &interfaces, failure) < 0)
            return -1;
    }
    return 0;
}

int
network_data_check(const char *data, size_t size, const struct domain *domain,
                   struct failure **failure)
{
    static const char *const lists[] = {"links", "networks", "services"};
    json_error_t error;
    cleanup_json json_t *json = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);

    if (!json_is_object(json)) {
        failure_set(
            failure, FAILURE_NETWORK_CONFIG,
            "line %d: not a JSON object, which a ConfigDrive's network_data.json is",
            json ? 1 : error.line);
        return failure_hint(
            failure,
            "write OpenStack's network_data.json, or from=\"interfaces\"; versions "
            "1 and 2 belong to datasource=\"nocloud\"");
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const json_t *list = json_object_get(json, lists[i]);

        if (json_is_array(list) || (!list && i > 1))
            continue;
        failure_set(failure, FAILURE_NETWORK_CONFIG, "has no list '%s'", lists[i]);
        return failure_hint(failure,
                            "network_data.json has links, networks and services");
    }
    return check_links(json_object_get(json, "links"), domain, failure);
}
