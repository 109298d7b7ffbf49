/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>
#include <sys/socket.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/nic.h"
#include "seed/json.h"
#include "seed/network.h"

/* --- version 2 ---------------------------------------------------------------------- */

static void
append(json_t *list, const char *text)
{
    json_must(json_array_append_new(list, json_string(text)));
}

static json_t *
text_list(char *const *list, size_t count)
{
    json_t *json = json_array();

    for (size_t i = 0; i < count; i++)
        append(json, list[i]);
    return json;
}

static void
set_list(json_t *object, const char *key, char *const *list, size_t count)
{
    if (count > 0)
        json_must(json_object_set_new(object, key, text_list(list, count)));
}

static void
set_boolean(json_t *object, const char *key, bool value)
{
    json_must(json_object_set_new(object, key, json_boolean(value)));
}

static void
add_route(json_t *routes, const char *to, const char *via, long metric)
{
    json_t *route = json_object();

    json_set_string(route, "to", to);
    json_set_string(route, "via", via);
    if (metric >= 0)
        json_must(json_object_set_new(route, "metric", json_integer(metric)));
    json_must(json_array_append_new(routes, route));
}

/* "default" makes cloud-init before 25.3 raise, outside netplan. */
static void
set_routes(json_t *object, const struct nic *nic)
{
    json_t *routes = json_array();

    if (nic->gateway4)
        add_route(routes, "0.0.0.0/0", nic->gateway4, -1);
    if (nic->gateway6)
        add_route(routes, "::/0", nic->gateway6, -1);
    for (size_t i = 0; i < nic->route_count; i++)
        add_route(routes, nic->routes[i].to, nic->routes[i].via, nic->routes[i].metric);
    if (json_array_size(routes) > 0)
        json_must(json_object_set(object, "routes", routes));
    json_decref(routes);
}

static void
set_nameservers(json_t *object, const struct nic *nic)
{
    json_t *nameservers = json_object();

    set_list(nameservers, "addresses", nic->nameservers, nic->nameserver_count);
    set_list(nameservers, "search", nic->searches, nic->search_count);
    if (json_object_size(nameservers) > 0)
        json_must(json_object_set(object, "nameservers", nameservers));
    json_decref(nameservers);
}

/* With set-name the guest would wait for the nic, and fail where it is not there. */
static void
set_match(json_t *object, const struct nic *nic)
{
    if (nic->mac)
        json_must(json_object_set_new(object, "match",
                                      json_pack("{s:s}", "macaddress", nic->mac)));
}

static json_t *
ethernet(const struct nic *nic)
{
    json_t *object = json_object();

    set_match(object, nic);
    set_boolean(object, "dhcp4", nic->dhcp4);
    set_boolean(object, "dhcp6", nic->dhcp6);
    if (nic->accept_ra != ACCEPT_RA_UNSAID)
        set_boolean(object, "accept-ra", nic->accept_ra == ACCEPT_RA_YES);
    if (nic->optional)
        set_boolean(object, "optional", true);
    if (nic->mtu > 0)
        json_must(json_object_set_new(object, "mtu", json_integer(nic->mtu)));
    set_list(object, "addresses", nic->addresses, nic->address_count);
    set_routes(object, nic);
    set_nameservers(object, nic);
    return object;
}

void
network_write_v2(struct buffer *buffer, const struct network *network)
{
    cleanup_json json_t *object = json_pack("{s:i}", "version", 2);
    json_t *ethernets = json_object();
    cleanup_free char *text = NULL;

    for (size_t i = 0; i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];
        cleanup_free char *id = nic->name ? xstrdup(nic->name) : xasprintf("nic%zu", i);

        json_must(json_object_set_new(ethernets, id, ethernet(nic)));
    }
    json_must(json_object_set_new(object, "ethernets", ethernets));
    text = json_text(object);
    buffer_append_string(buffer, text);
}

/* --- what a ConfigDrive cannot carry ------------------------------------------------ */

int
network_fail(const struct nic *nic, const char *problem, struct failure **failure)
{
    failure_set(failure, FAILURE_NETWORK_CONFIG, "the nic '%s' %s",
                nic->name ? nic->name : nic->mac, problem);
    return failure_hint(
        failure, "use datasource=\"nocloud\", whose network-config has all of it, or "
                 "leave it away");
}

/* Return: whether a nic with an address has the server, or the search domain: the guest's
 * resolver is one. */
static bool
is_carried(const struct network *network, const char *text)
{
    for (size_t i = 0; i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];

        if (nic->address_count > 0 && nic_has_dns(nic, text))
            return true;
    }
    return false;
}

static bool
are_carried(const struct network *network, char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_carried(network, list[i]))
            return false;
    }
    return true;
}

bool
network_carries_dns(const struct network *network)
{
    for (size_t i = 0; i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];

        if (!are_carried(network, nic->nameservers, nic->nameserver_count) ||
            !are_carried(network, nic->searches, nic->search_count))
            return false;
    }
    return true;
}

int
network_check_configdrive(const struct network *network, struct failure **failure)
{
    for (size_t i = 0; i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];

        if (nic->optional)
            return network_fail(nic, "is optional, which a ConfigDrive cannot say",
                                failure);
        if (nic->address_count > 0)
            continue;
        if (nic->route_count > 0 || nic->gateway6)
            return network_fail(
                nic,
                "has a route and no address, and cloud-init would not set "
                "it from a ConfigDrive",
                failure);
    }
    return 0;
}
