/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "base/json.h"
#include "base/memory.h"
#include "domain/network.h"
#include "seed/content.h"
#include "seed/writers.h"
#include "seed/yaml.h"

int
network_config_check(const char *data, size_t size, struct failure **failure)
{
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root, *version, *config;

    if (yaml_read(&yaml, data, size, YAML_ONE_MAPPING, failure) < 0)
        return -1;
    /* cloud-init ignores everything outside the wrapping. */
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
    if (version->type == YAML_TEXT)
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "has a version that is text, and cloud-init expects a number\n"
                           "write 'version: 2', without quotes");
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "has a version that is neither 1 nor 2\n"
                       "write 'version: 2', without quotes");
}

static void
add_route(json_t *routes, const char *to, const char *via, bool on_link, long metric)
{
    json_t *route = json_object();

    json_set_string(route, "to", to);
    json_set_string(route, "via", via);
    if (on_link)
        json_set(route, "on-link", json_true());
    if (metric >= 0)
        json_set(route, "metric", json_integer(metric));
    json_add(routes, route);
}

static json_t *
ethernet(const struct nic *nic, bool of_interfaces)
{
    json_t *object = json_object();
    cleanup_json json_t *routes = json_array();
    cleanup_json json_t *nameservers = json_object();

    /* With set-name, the guest would wait for the nic and fail if it is missing. */
    if (nic->mac)
        json_set(object, "match", json_pack("{s:s}", "macaddress", nic->mac));
    json_set(object, "dhcp4", json_boolean(nic->dhcp4));
    /* A clone has its own MAC. systemd-networkd's default identifier depends on
     * /etc/machine-id, which a cloned disk has from its original. */
    if (of_interfaces && nic->mac && nic->dhcp4)
        json_set_string(object, "dhcp-identifier", "mac");
    json_set(object, "dhcp6", json_boolean(nic->dhcp6));
    if (nic->accept_ra != ACCEPT_RA_UNSAID)
        json_set(object, "accept-ra", json_boolean(nic->accept_ra == ACCEPT_RA_YES));
    if (nic->optional)
        json_set(object, "optional", json_true());
    if (nic->mtu > 0)
        json_set(object, "mtu", json_integer(nic->mtu));
    json_set_texts(object, "addresses", nic->addresses, nic->address_count);
    /* Except with netplan, "default" makes cloud-init before 25.3 fail. netplan needs
     * on-link for a gateway of another network, NetworkManager does not, and the other
     * renderers ignore it. */
    if (nic->gateway4)
        add_route(routes, "0.0.0.0/0", nic->gateway4, nic_is_outside(nic, nic->gateway4),
                  -1);
    if (nic->gateway6)
        add_route(routes, "::/0", nic->gateway6, nic_is_outside(nic, nic->gateway6), -1);
    for (size_t i = 0; i < nic->route_count; i++)
        add_route(routes, nic->routes[i].to, nic->routes[i].via, false,
                  nic->routes[i].metric);
    if (json_array_size(routes) > 0)
        json_set(object, "routes", json_incref(routes));
    json_set_texts(nameservers, "addresses", nic->nameservers, nic->nameserver_count);
    json_set_texts(nameservers, "search", nic->searches, nic->search_count);
    if (json_object_size(nameservers) > 0)
        json_set(object, "nameservers", json_incref(nameservers));
    return object;
}

void
network_write_v2(struct buffer *buffer, const struct network *network)
{
    cleanup_json json_t *object = json_pack("{s:i}", "version", 2);
    json_t *ethernets = json_object();

    for (size_t i = 0; i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];
        cleanup_free char *id = nic->name ? xstrdup(nic->name) : xasprintf("nic%zu", i);

        json_set(ethernets, id, ethernet(nic, network->of_interfaces));
    }
    json_set(object, "ethernets", ethernets);
    json_append(buffer, object);
}
