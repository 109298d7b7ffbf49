/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * <network-config from="interfaces">.
 *
 * How it works: first, each <interface> of the domain becomes a nic, in the same order;
 * then each of our <interface> elements is read into the nic that it names.
 */
#include "config.h"

#include "domain/domain.h"
#include "domain/network.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* Return: the position of the nic that the element names, or -1. */
static int
find_named(const struct interfaces *interfaces, const xmlNode *node,
           struct failure **failure)
{
    cleanup_free char *mac = xml_attribute(node, "mac");
    cleanup_free char *alias = xml_attribute(node, "alias");
    cleanup_free char *usual = mac ? interface_normalize_mac(mac) : NULL;
    cleanup_free char *user_alias = xasprintf(DEVICE_USER_ALIAS "%s", alias ? alias : "");
    cleanup_buffer struct buffer known = {0};

    if (!mac == !alias) {
        const char *found = mac ? "both mac= and alias=" : "neither mac= nor alias=";

        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has %s\n"
                               "write one of them, as in the domain's own <interface>",
                               found);
    }
    if (mac && !usual)
        return vocabulary_fail_value(node, "mac", mac,
                                     "an address such as \"52:54:00:12:34:56\"", failure);
    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];

        bool is_named = mac && strcmp(interface->mac, usual) == 0;

        if (alias && interface->alias)
            is_named = strcmp(interface->alias, alias) == 0 ||
                       strcmp(interface->alias, user_alias) == 0;
        if (is_named)
            return (int)i;
        buffer_printf(&known, "%s%s", i > 0 ? ", " : "", interface->mac);
        if (interface->alias)
            buffer_printf(&known, " (%s)", interface->alias);
    }
    return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG,
                           "has %s=\"%.64s\", but the domain has no such "
                           "interface\n"
                           "use one of the domain's interfaces: %s",
                           mac ? "mac" : "alias", mac ? mac : alias, known.data);
}

struct reading {
    struct network *network;
    const struct interfaces *interfaces;
    bool named[LIMIT_NICS]; /* whether an element has named the interface */
    struct nic *nic;        /* of the element being read */
};

static int
read_route(void *data, const xmlNode *node, struct failure **failure)
{
    const struct reading *reading = data;
    cleanup_free char *to = xml_attribute(node, "to");
    cleanup_free char *via = xml_attribute(node, "via");
    long metric = -1;

    if (vocabulary_check_no_text(node, failure) < 0)
        return -1;
    if (!to || !via)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "needs both to= and via=\n"
                               "write <route to=\"198.51.100.0/24\" via=\"192.0.2.1\"/>");
    if (vocabulary_read_number(node, "metric", 1, LIMIT_METRIC, &metric, failure) < 0)
        return -1;
    return nic_add_route(reading->nic, to, via, metric, failure);
}

/* <address>, <gateway>, <nameserver> or <search>. */
static int
read_word(void *data, const xmlNode *node, struct failure **failure)
{
    const struct reading *reading = data;
    cleanup_free char *what = xasprintf("<%s>", node->name);
    cleanup_free char *text = vocabulary_word(node);
    struct address address;

    if (vocabulary_is(node, "gateway"))
        return nic_set_gateway(reading->nic, what, text, failure);
    if (vocabulary_is(node, "nameserver"))
        return nic_add_nameserver(reading->nic, what, text, failure);
    if (vocabulary_is(node, "search"))
        return nic_add_search(reading->nic, what, text, failure);
    if (address_parse_with_prefix(&address, text))
        return nic_add_address(reading->network, reading->nic, what, &address, failure);
    return nic_fail_text(
        failure, what, text,
        "an address with a prefix, such as '192.0.2.10/24' or '2001:db8::10/64'");
}

static const struct vocabulary_element nic_elements[] = {
    {"address", .read = read_word, .flags = VOCABULARY_SEVERAL},
    {"gateway", .read = read_word, .flags = VOCABULARY_SEVERAL},
    {"nameserver", .read = read_word, .flags = VOCABULARY_SEVERAL},
    {"search", .read = read_word, .flags = VOCABULARY_SEVERAL},
    {"route", .read = read_route, .attributes = {"to", "via", "metric"},
     .flags = VOCABULARY_SEVERAL},
    {0},
};

/* Reads one of our <interface> elements into the nic that it names. */
static int
read_nic(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    const int index = find_named(reading->interfaces, node, failure);
    bool accept_ra = false;
    struct nic *nic;

    if (index < 0)
        return -1;
    if (reading->named[index])
        return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG,
                               "names the same interface as another <interface>\n"
                               "merge them into one element");
    reading->named[index] = true;
    reading->nic = nic = &reading->network->nics[index];
    if (vocabulary_read_children(node, nic_elements, reading, failure) < 0)
        return -1;
    nic->dhcp4 = !nic_has_address(nic, AF_INET);
    if (vocabulary_read_yes_no(node, "dhcp4", &nic->dhcp4, failure) < 0 ||
        vocabulary_read_yes_no(node, "dhcp6", &nic->dhcp6, failure) < 0)
        return -1;
    if (vocabulary_read_yes_no(node, "optional", &nic->optional, failure) < 0 ||
        vocabulary_read_yes_no(node, "accept-ra", &accept_ra, failure) < 0)
        return -1;
    if (vocabulary_read_number(node, "mtu", LIMIT_MTU_MIN, LIMIT_MTU, &nic->mtu,
                               failure) < 0)
        return -1;
    if (xmlHasProp(node, (const xmlChar *)"accept-ra"))
        nic->accept_ra = accept_ra ? ACCEPT_RA_YES : ACCEPT_RA_NO;
    return nic_finish(nic, failure);
}

static const struct vocabulary_element interface_elements[] = {
    {"interface", .read = read_nic,
     .attributes = {"mac", "alias", "dhcp4", "dhcp6", "accept-ra", "optional", "mtu"},
     .flags = VOCABULARY_SEVERAL | VOCABULARY_ANYTHING},
    {0},
};

/* The guest identifies its nics by their MAC. */
static int
check_macs(const struct interfaces *interfaces, struct failure **failure)
{
    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];
        const char *hint = "add one; libvirt does when it defines the domain";
        cleanup_free char *problem =
            interface->mac ? NULL : xstrdup("has no valid <mac address='…'/>");

        for (size_t j = 0; j < i && !problem; j++) {
            if (strcmp(interfaces->items[j].mac, interface->mac) != 0)
                continue;
            problem =
                xasprintf("has the MAC '%s' of <interface> %zu", interface->mac, j + 1);
            hint = "give each interface its own: the guest identifies its nics by it";
        }
        if (problem)
            return failure_set_at(
                failure, FAILURE_NETWORK_CONFIG, xml_line(interface->node),
                "the domain's <interface> %zu%s%s%s %s\n%s", i + 1,
                interface->alias ? " (" : "", interface->alias ? interface->alias : "",
                interface->alias ? ")" : "", problem, hint);
    }
    return 0;
}

struct network *
network_read(const xmlNode *node, const struct domain *domain, struct failure **failure)
{
    const char *const attributes[] = {"from", NULL};
    cleanup_interfaces struct interfaces interfaces = {0};
    struct reading reading;
    struct network *network;

    if (interfaces_read(&interfaces, domain, failure) < 0 ||
        vocabulary_check_attributes(node, attributes, failure) < 0)
        return NULL;
    if (interfaces.count == 0) {
        vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG,
                        "has from=\"interfaces\", but the domain has no <interface>\n"
                        "remove the element, or add an interface");
        return NULL;
    }
    if (check_macs(&interfaces, failure) < 0)
        return NULL;
    network = xcalloc(1, sizeof(*network));
    network->of_interfaces = true;
    network->nics = xcalloc(interfaces.count, sizeof(*network->nics));
    network->nic_count = interfaces.count;
    for (size_t i = 0; i < interfaces.count; i++) {
        network->nics[i].mac = xstrdup(interfaces.items[i].mac);
        network->nics[i].dhcp4 = true;
    }
    reading = (struct reading){.network = network, .interfaces = &interfaces};
    if (vocabulary_read_children(node, interface_elements, &reading, failure) == 0)
        return network;
    network_free(network);
    return NULL;
}
