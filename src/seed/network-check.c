/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The structure of a network-config: what every renderer of every cloud-init since 20.4
 * fails at, netplan included, so that the guest would have no network at all. What only
 * some of them refuse is a warning of check (check/network.c).
 * tests/network-documents has a document for each, and tests ask cloud-init.
 */
#include "config.h"

#include "domain/vocabulary.h"
#include "seed/content.h"
#include "seed/yaml.h"

static int
fail(const struct yaml_node *node, const char *problem, const char *hint,
     struct failure **failure)
{
    return yaml_fail(node->line, FAILURE_NETWORK_CONFIG, problem, hint, failure);
}

static bool
is_null(const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && node->type == YAML_NULL;
}

/* YAML 1.1 takes 52:52:52:00:00:00 for an integer in base 60, and cloud-init expects text. */
static int
check_mac(const struct yaml_node *mac, struct failure **failure)
{
    if (!mac || mac->kind != YAML_SCALAR || mac->type != YAML_INTEGER)
        return 0;
    return fail(mac, "the MAC address is a number in YAML, and cloud-init fails",
                "put it in quotes", failure);
}

/* Those whose devices each renderer reads. */
static const char *const device_sections[] = {"ethernets", "bonds", "bridges", "vlans",
                                              NULL};

/* What netplan knows besides. */
static const char *const other_keys[] = {
    "version",           "renderer", "wifis",      "tunnels",     "vrfs", "dummy-devices",
    "virtual-ethernets", "modems",   "nm-devices", "openvswitch", NULL};

static int
check_device(const struct yaml_node *device, struct failure **failure)
{
    const struct yaml_node *match = yaml_get(device, "match");
    const struct yaml_node *addresses = yaml_get(device, "addresses");
    const struct yaml_node *routes = yaml_get(device, "routes");
    const struct yaml_node *nameservers = yaml_get(device, "nameservers");

    if (device->kind != YAML_MAPPING)
        return fail(device, "a device is not a mapping",
                    "write {dhcp4: true} or the like, or {} for no addresses", failure);
    if (match && match->kind != YAML_MAPPING)
        return fail(match, "'match' is not a mapping", "write match: {macaddress: 'MAC'}",
                    failure);
    /* cloud-init takes the keys of a mapping, netplan does not. */
    if (addresses && addresses->kind == YAML_SCALAR)
        return fail(addresses, "'addresses' is not a list",
                    "write addresses: [192.0.2.10/24], or remove it", failure);
    if (routes && routes->kind != YAML_SEQUENCE)
        return fail(routes, "'routes' is not a list",
                    "write routes: [{to: 0.0.0.0/0, via: ADDRESS}], or remove it",
                    failure);
    yaml_foreach(item, addresses) {
        if (!item->key && item->value->kind == YAML_SCALAR &&
            item->value->type != YAML_TEXT)
            return fail(item->value, "an item of 'addresses' is not text",
                        "write an address with its prefix: 192.0.2.10/24", failure);
    }
    if (nameservers && nameservers->kind != YAML_MAPPING && addresses && addresses->items)
        return fail(nameservers, "'nameservers' is not a mapping",
                    "write nameservers: {addresses: [ADDRESS]}", failure);
    yaml_foreach(item, routes) {
        const struct yaml_node *to = yaml_get(item->value, "to");

        if (!to || is_null(to))
            return fail(item->value, "a route is not a mapping with 'to'",
                        "write {to: 0.0.0.0/0, via: ADDRESS}", failure);
    }
    return check_mac(yaml_get(match, "macaddress"), failure);
}

static int
check_version_2(const struct yaml_node *root, struct failure **failure)
{
    yaml_foreach(section, root) {
        if (!word_is_in(section->key->text, device_sections)) {
            if (word_is_in(section->key->text, other_keys) ||
                section->key->type == YAML_MERGE)
                continue;
            return fail(section->key, "version 2 of network-config has no such key here",
                        "write ethernets, bonds, bridges, vlans or wifis, and what "
                        "belongs to a device below that device",
                        failure);
        }
        if (section->value->kind != YAML_MAPPING)
            return fail(section->value, "not a mapping of devices",
                        "write the device's name and what it gets: eth0: {dhcp4: true}",
                        failure);
        yaml_foreach(device, section->value) {
            if (device->key->type != YAML_MERGE &&
                check_device(device->value, failure) < 0)
                return -1;
        }
    }
    return 0;
}

static const char *const item_types[] = {
    "physical",   "loopback", "bond",       "bridge", "vlan",
    "nameserver", "route",    "infiniband", NULL,
};

static int
check_subnet(const struct yaml_node *subnet, struct failure **failure)
{
    static const char *const fixed[] = {"static", "static6", NULL};
    const struct yaml_node *type = yaml_get(subnet, "type");
    const struct yaml_node *address = yaml_get(subnet, "address");

    if (!type || type->kind != YAML_SCALAR || type->type != YAML_TEXT)
        return fail(subnet, "a subnet is not a mapping with a 'type'",
                    "write {type: dhcp}, or {type: static, address: 192.0.2.10/24}",
                    failure);
    if (!address)
        address = yaml_get(subnet, "ip_address");
    if (!word_is_in(type->text, fixed) ||
        (address && address->kind == YAML_SCALAR && address->type == YAML_TEXT))
        return 0;
    return fail(subnet, "a static subnet has no 'address'",
                "write {type: static, address: 192.0.2.10/24}", failure);
}

static int
check_item(const struct yaml_node *item, struct failure **failure)
{
    const struct yaml_node *type = yaml_get(item, "type");
    const struct yaml_node *subnets = yaml_get(item, "subnets");
    const struct yaml_node *mac = yaml_get(item, "mac_address");

    if (!type || !word_is_in(type->text, item_types))
        return fail(item, "an item of 'config' has no 'type' that cloud-init knows",
                    "write type: physical, bond, bridge, vlan, loopback, infiniband, "
                    "nameserver or route",
                    failure);
    if (strcmp(type->text, "physical") == 0) {
        if (check_mac(mac, failure) < 0)
            return -1;
        if (mac && !is_null(mac) && !yaml_get(item, "name"))
            return fail(item, "an item with a 'mac_address' has no 'name'",
                        "write the name that the interface gets: name: eth0", failure);
    }
    if (!subnets || is_null(subnets))
        return 0;
    if (subnets->kind != YAML_SEQUENCE)
        return fail(subnets, "'subnets' is not a list", "write subnets: [{type: dhcp}]",
                    failure);
    yaml_foreach(subnet, subnets) {
        if (check_subnet(subnet->value, failure) < 0)
            return -1;
    }
    return 0;
}

static int
check_version_1(const struct yaml_node *root, struct failure **failure)
{
    const struct yaml_node *config = yaml_get(root, "config");

    if (!config || config->kind != YAML_SEQUENCE || !config->items)
        return fail(config ? config : root,
                    "version 1 of network-config has no list 'config'",
                    "write config: [{type: physical, name: eth0, subnets: [{type: "
                    "dhcp}]}], or 'config: disabled' alone",
                    failure);
    yaml_foreach(item, config) {
        if (check_item(item->value, failure) < 0)
            return -1;
    }
    return 0;
}

int
network_check_structure(const struct yaml_node *root, bool is_version_1,
                        struct failure **failure)
{
    return is_version_1 ? check_version_1(root, failure) : check_version_2(root, failure);
}
