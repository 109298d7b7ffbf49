/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/interface.h"
#include "seed/json.h"
#include "seed/network-config.h"
#include "seed/yaml.h"

int
network_config_check(const char *data, size_t size, struct failure **failure)
{
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root, *version, *config;

    if (yaml_read(&yaml, data, size, YAML_ONE_MAPPING, failure) < 0)
        return -1;
    /* Beside the wrapping cloud-init looks at nothing. */
    root = yaml_get(yaml.root, "network");
    root = root ? root : yaml.root;
    version = yaml_get(root, "version");
    config = yaml_get(root, "config");
    if (config && strcmp(config->text, "disabled") == 0)
        return 0;
    if (!version || version->kind != YAML_SCALAR)
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "has no version, and cloud-init would ignore it\n"
                           "begin with 'version: 2'");
    if (version->type == YAML_INTEGER &&
        (strcmp(version->text, "1") == 0 || strcmp(version->text, "2") == 0))
        return 0;
    failure_set(failure, FAILURE_NETWORK_CONFIG,
                version->type == YAML_TEXT
                    ? "has a version that is text, and cloud-init expects a number"
                    : "has a version that is neither 1 nor 2");
    return failure_hint(failure, "write 'version: 2', without quotes");
}

/* --- network_data.json -------------------------------------------------------------- */

static const struct list {
    const char *name;
    const char *keys[2]; /* texts that cloud-init indexes in each object */
    bool is_optional;
} lists[] = {
    {.name = "links", .keys = {"id", "type"}},
    {.name = "networks", .keys = {"link", "type"}},
    {.name = "services", .keys = {"type", "address"}, .is_optional = true},
};

static int
check_objects(const json_t *objects, const struct list *list, struct failure **failure)
{
    size_t index;
    json_t *object;

    json_array_foreach((json_t *)objects, index, object)
    {
        for (size_t i = 0; i < 2; i++) {
            if (json_is_string(json_object_get(object, list->keys[i])))
                continue;
            return failure_set(failure, FAILURE_NETWORK_CONFIG,
                               "%s[%zu] has no text '%s'\n"
                               "each object of '%s' has '%s' and '%s'",
                               list->name, index, list->keys[i], list->name,
                               list->keys[0], list->keys[1]);
        }
    }
    return 0;
}

static int
check_lists(const json_t *json, struct failure **failure)
{
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        const json_t *list = json_object_get(json, lists[i].name);

        if (!list && lists[i].is_optional)
            continue;
        if (!json_is_array(list))
            return failure_set(failure, FAILURE_NETWORK_CONFIG,
                               "has no list '%s'\n"
                               "network_data.json has links, networks and services",
                               lists[i].name);
        if (check_objects(list, &lists[i], failure) < 0)
            return -1;
    }
    return 0;
}

/* Others (bonds) have an address that the guest gives. */
static bool
is_physical(const json_t *link)
{
    const char *type = json_string_value(json_object_get(link, "type"));

    return strcmp(type, "bond") != 0 && strcmp(type, "vlan") != 0;
}

static int
check_link(const json_t *link, size_t index, const struct domain *domain,
           struct failure **failure)
{
    const char *mac = json_string_value(json_object_get(link, "ethernet_mac_address"));

    if (!is_physical(link) || (mac && !interface_mac_is_missing(domain, mac)) ||
        (!mac && json_object_get(link, "name")))
        return 0;
    failure_set(failure, FAILURE_NETWORK_CONFIG,
                mac ? "links[%zu] has an ethernet_mac_address that no interface of the "
                      "domain has"
                    : "links[%zu] has neither an ethernet_mac_address nor a name",
                index);
    return failure_hint(failure, "correct it, or write from=\"interfaces\"");
}

static int
check_links(const json_t *links, const struct domain *domain, struct failure **failure)
{
    size_t index;
    json_t *link;

    if (json_array_size(links) > LIMIT_NICS)
        return failure_set(failure, FAILURE_LIMIT,
                           "has %zu links, at most %d\n"
                           "leave out links that no interface needs",
                           json_array_size(links), LIMIT_NICS);
    json_array_foreach((json_t *)links, index, link)
    {
        if (check_link(link, index, domain, failure) < 0)
            return -1;
    }
    return 0;
}

static bool
has_link(const json_t *links, const char *id)
{
    size_t index;
    json_t *link;

    json_array_foreach((json_t *)links, index, link)
    {
        if (strcmp(json_string_value(json_object_get(link, "id")), id) == 0)
            return true;
    }
    return false;
}

static int
check_networks(const json_t *networks, const json_t *links, struct failure **failure)
{
    size_t index;
    json_t *network;

    json_array_foreach((json_t *)networks, index, network)
    {
        if (has_link(links, json_string_value(json_object_get(network, "link"))))
            continue;
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "networks[%zu] has a link that is no link's id\n"
                           "write the 'id' of one of the links",
                           index);
    }
    return 0;
}

int
network_data_check(const char *data, size_t size, const struct domain *domain,
                   struct failure **failure)
{
    json_error_t error;
    cleanup_json json_t *json = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
    const json_t *links = json_object_get(json, "links");

    if (!json_is_object(json))
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "line %d: not a JSON object, which a ConfigDrive's "
                           "network_data.json is\n"
                           "write OpenStack's network_data.json, or "
                           "from=\"interfaces\"; versions 1 and 2 belong to "
                           "datasource=\"nocloud\"",
                           json ? 1 : error.line);
    if (check_lists(json, failure) < 0 || check_links(links, domain, failure) < 0)
        return -1;
    return check_networks(json_object_get(json, "networks"), links, failure);
}
