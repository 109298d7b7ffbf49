/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ConfigDrive's network_data.json: a generated one, and the check of a user's own.
 *
 * How it works: a nic is a link, and each of its addresses, DHCP and
 * autoconfiguration is a network of that link. cloud-init derives "static" and DHCP from
 * the types of the networks, and accept-ra from the last IPv6 network: "ipv6" turns it
 * off, "ipv6_dhcp" on. Routes and name servers belong to the first network of their family
 * that has an address, because the renderer for netplan ignores them elsewhere.
 */
#include "config.h"

#include "base/json.h"
#include "domain/address.h"
#include "domain/domain.h"
#include "domain/network.h"
#include "seed/content.h"
#include "seed/writers.h"

static bool
is_ipv6(const char *text)
{
    return strchr(text, ':');
}

/* Takes "192.0.2.10/24" apart; both are owned by the caller (free). */
static void
split_address(const char *text, char **host, char **netmask)
{
    struct address address;

    address_parse_with_prefix(&address, text);
    *host = address_format(&address);
    *netmask = address_format_netmask(&address);
}

/* --- what a ConfigDrive cannot carry ------------------------------------------------ */

static int
fail_nic(const struct nic *nic, const char *problem, struct failure **failure)
{
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "the nic '%s' %s\n"
                       "use datasource=\"nocloud\", whose network-config has all of it, "
                       "or remove it",
                       nic->name ? nic->name : nic->mac, problem);
}

/* --- network_data.json -------------------------------------------------------------- */

/* Return: the link's new network, borrowed. */
static json_t *
add_network(json_t *networks, const char *link, const char *type)
{
    json_t *network = json_pack("{s:o, s:s, s:s}", "id",
                                json_sprintf("network%zu", json_array_size(networks)),
                                "link", link, "type", type);

    json_add(networks, network);
    return network;
}

static void
add_route(json_t *routes, const char *to, const char *via, long metric)
{
    cleanup_free char *network = NULL;
    cleanup_free char *netmask = NULL;

    split_address(to, &network, &netmask);
    json_add(routes, json_pack("{s:s, s:s, s:s, s:o*}", "network", network, "netmask",
                               netmask, "gateway", via, "metric",
                               metric >= 0 ? json_integer(metric) : NULL));
}

/* OpenStack has services, but cloud-init before 23.3 only reads dns_nameservers. */
static void
set_dns(json_t *network, const struct nic *nic)
{
    cleanup_json json_t *services = json_array();

    for (size_t i = 0; i < nic->nameserver_count; i++)
        json_add(services,
                 json_pack("{s:s, s:s}", "type", "dns", "address", nic->nameservers[i]));
    json_set_texts(network, "dns_nameservers", nic->nameservers, nic->nameserver_count);
    if (nic->nameserver_count > 0)
        json_set(network, "services", json_incref(services));
    json_set_texts(network, "dns_search", nic->searches, nic->search_count);
}

/* Adds the addresses of a family. `dns` is whether name servers have no network yet. */
static void
add_addresses(json_t *networks, const struct nic *nic, const char *link, bool ipv6,
              bool *dns)
{
    const char *gateway = ipv6 ? nic->gateway6 : nic->gateway4;
    cleanup_json json_t *routes = json_array();
    bool first = true;

    if (gateway)
        add_route(routes, ipv6 ? "::/0" : "0.0.0.0/0", gateway, -1);
    for (size_t i = 0; i < nic->route_count; i++) {
        if (is_ipv6(nic->routes[i].to) == ipv6)
            add_route(routes, nic->routes[i].to, nic->routes[i].via,
                      nic->routes[i].metric);
    }
    for (size_t i = 0; i < nic->address_count; i++) {
        cleanup_free char *host = NULL;
        cleanup_free char *netmask = NULL;
        json_t *network;

        if (is_ipv6(nic->addresses[i]) != ipv6)
            continue;
        split_address(nic->addresses[i], &host, &netmask);
        network = add_network(networks, link, ipv6 ? "ipv6" : "ipv4");
        json_set_string(network, "ip_address", host);
        json_set_string(network, "netmask", netmask);
        if (first && json_array_size(routes) > 0)
            json_set(network, "routes", json_incref(routes));
        if (*dns)
            set_dns(network, nic);
        first = false;
        *dns = false;
    }
}

/* Return: whether the nic has routes of the family, and no address that they go with. */
static bool
loses_routes(const struct nic *nic, bool ipv6)
{
    bool found = ipv6 ? nic->gateway6 != NULL : nic->gateway4 != NULL;

    for (size_t i = 0; i < nic->route_count; i++)
        found = found || is_ipv6(nic->routes[i].to) == ipv6;
    return found && !nic_has_address(nic, ipv6 ? AF_INET6 : AF_INET);
}

static int
write_nic(json_t *networks, const struct nic *nic, const char *link,
          struct failure **failure)
{
    const bool has6 = nic_has_address(nic, AF_INET6);
    json_t *network = NULL;
    bool dns = true;

    if (nic->optional)
        return fail_nic(nic, "is optional, which a ConfigDrive cannot say", failure);
    if (loses_routes(nic, false) || loses_routes(nic, true))
        return fail_nic(nic,
                        "has a route and no address of its family, and cloud-init would "
                        "not set it from a ConfigDrive",
                        failure);
    if (nic->accept_ra == ACCEPT_RA_YES && has6 && !nic->dhcp6)
        return fail_nic(nic,
                        "has an IPv6 address and accept-ra=\"yes\", which a ConfigDrive "
                        "cannot say without DHCPv6",
                        failure);
    if (nic->accept_ra == ACCEPT_RA_NO && !has6)
        return fail_nic(nic,
                        "has accept-ra=\"no\" and no IPv6 address, which a ConfigDrive "
                        "cannot say",
                        failure);
    add_addresses(networks, nic, link, false, &dns);
    if (nic->dhcp4) {
        json_t *ipv4 = add_network(networks, link, "ipv4_dhcp");

        if (dns && !has6)
            set_dns(ipv4, nic);
        dns = dns && has6;
    }
    if (nic->dhcp6 && nic->accept_ra == ACCEPT_RA_NO)
        add_network(networks, link, "ipv6_dhcp");
    add_addresses(networks, nic, link, true, &dns);
    if (nic->dhcp6 && nic->accept_ra != ACCEPT_RA_NO)
        network = add_network(networks, link, "ipv6_dhcp");
    else if (!nic->dhcp6 && nic->accept_ra == ACCEPT_RA_YES)
        network = add_network(networks, link, "ipv6_slaac");
    if (network && dns)
        set_dns(network, nic);
    return 0;
}

int
network_write_openstack(struct buffer *buffer, const struct network *network,
                        struct failure **failure)
{
    json_t *links = json_array();
    json_t *networks = json_array();
    cleanup_json json_t *object =
        json_pack("{s:o, s:o, s:[]}", "links", links, "networks", networks, "services");

    for (size_t i = 0; i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];
        cleanup_free char *id = xasprintf("nic%zu", i);
        /* cloud-init would give the nic that name, so it is written only if nothing else
         * identifies the nic. */
        const char *name = nic->mac ? NULL : nic->name;

        json_add(links, json_pack("{s:s, s:s, s:s*, s:s*, s:o*}", "id", id, "type", "phy",
                                  "ethernet_mac_address", nic->mac, "name", name, "mtu",
                                  nic->mtu > 0 ? json_integer(nic->mtu) : NULL));
        if (write_nic(networks, nic, id, failure) < 0)
            return -1;
    }
    json_append(buffer, object);
    return 0;
}

/* --- a network_data.json of the user's own ---------------------------------------- */

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
check_list(const json_t *json, const struct list *list, struct failure **failure)
{
    const json_t *objects = json_object_get(json, list->name);
    size_t index;
    json_t *object;

    if (!objects && list->is_optional)
        return 0;
    if (!json_is_array(objects))
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "has no list '%s'\n"
                           "network_data.json has links, networks and services",
                           list->name);
    json_array_foreach((json_t *)objects, index, object) {
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

static bool
is_link(const json_t *links, const json_t *id)
{
    size_t index;
    json_t *link;

    json_array_foreach((json_t *)links, index, link) {
        if (json_is_string(id) && json_equal(json_object_get(link, "id"), (json_t *)id))
            return true;
    }
    return false;
}

/* Bonds and VLANs are above other links, and the guest itself assigns their addresses.
 * cloud-init indexes the keys that are checked here, too. */
static int
check_bond(const json_t *links, const json_t *bond, size_t index,
           struct failure **failure)
{
    const json_t *below = json_object_get(bond, "bond_links");
    bool is_complete = json_array_size(below) > 0;
    size_t i;
    json_t *id;

    json_array_foreach((json_t *)below, i, id) {
        is_complete = is_complete && is_link(links, id);
    }
    if (is_complete)
        return 0;
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "links[%zu] is a bond without a list 'bond_links' of links\n"
                       "write the ids of the links that it combines",
                       index);
}

static int
check_vlan(const json_t *links, const json_t *vlan, size_t index,
           struct failure **failure)
{
    if (is_link(links, json_object_get(vlan, "vlan_link")) &&
        json_object_get(vlan, "vlan_id") && json_object_get(vlan, "vlan_mac_address"))
        return 0;
    return failure_set(
        failure, FAILURE_NETWORK_CONFIG,
        "links[%zu] is a VLAN without 'vlan_link', 'vlan_id' or 'vlan_mac_address'\n"
        "write all three; 'vlan_link' is the id of the link below it",
        index);
}

static int
check_link(const json_t *links, const json_t *link, size_t index,
           const struct domain *domain, struct failure **failure)
{
    const char *type = json_string_value(json_object_get(link, "type"));
    const char *mac = json_string_value(json_object_get(link, "ethernet_mac_address"));
    const char *problem;

    if (strcmp(type, "bond") == 0)
        return check_bond(links, link, index, failure);
    if (strcmp(type, "vlan") == 0)
        return check_vlan(links, link, index, failure);
    if (mac && interface_mac_is_missing(domain, mac))
        problem = "an ethernet_mac_address that no interface of the domain has";
    else if (!mac && !json_object_get(link, "name"))
        problem = "neither an ethernet_mac_address nor a name";
    else
        return 0;
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "links[%zu] has %s\ncorrect it, or write from=\"interfaces\"",
                       index, problem);
}

/* Only what all of cloud-init's renderers fail at. */
static int
check_static(const json_t *network, size_t index, struct failure **failure)
{
    const char *type = json_string_value(json_object_get(network, "type"));
    const char *text = json_string_value(json_object_get(network, "ip_address"));
    const json_t *routes = json_object_get(network, "routes");
    size_t i;
    json_t *route;

    if (strcmp(type, "ipv4") != 0 && strcmp(type, "ipv6") != 0)
        return 0;
    if (!text)
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "networks[%zu] has no text 'ip_address'\n"
                           "write an address, or \"type\": \"ipv4_dhcp\"",
                           index);
    json_array_foreach((json_t *)routes, i, route) {
        if (!json_is_string(json_object_get(route, "network")))
            return failure_set(failure, FAILURE_NETWORK_CONFIG,
                               "networks[%zu].routes[%zu] has no text 'network'\n"
                               "each route has 'network', 'netmask' and 'gateway'",
                               index, i);
    }
    return 0;
}

int
network_data_check(const char *data, size_t size, const struct domain *domain,
                   struct failure **failure)
{
    json_error_t error;
    cleanup_json json_t *json = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
    json_t *links = json_object_get(json, "links");
    json_t *networks = json_object_get(json, "networks");
    json_t *link, *network;
    size_t index;

    if (!json_is_object(json)) {
        failure_set(failure, FAILURE_NETWORK_CONFIG,
                    "not a JSON object, which a ConfigDrive's network_data.json is\n"
                    "write OpenStack's network_data.json, or from=\"interfaces\"; "
                    "versions 1 and 2 belong to datasource=\"nocloud\"");
        return failure_in_line(failure, json ? 1 : error.line);
    }
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        if (check_list(json, &lists[i], failure) < 0)
            return -1;
    }
    if (json_array_size(links) > LIMIT_NICS)
        return failure_set(failure, FAILURE_LIMIT,
                           "has %zu links, at most %d\n"
                           "leave out links that no interface needs",
                           json_array_size(links), LIMIT_NICS);
    json_array_foreach(links, index, link) {
        if (check_link(links, link, index, domain, failure) < 0)
            return -1;
    }
    json_array_foreach(networks, index, network) {
        if (!is_link(links, json_object_get(network, "link")))
            return failure_set(failure, FAILURE_NETWORK_CONFIG,
                               "networks[%zu] has a link that is not the id of any link\n"
                               "write the 'id' of one of the links",
                               index);
        if (check_static(network, index, failure) < 0)
            return -1;
    }
    return 0;
}
