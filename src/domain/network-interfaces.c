/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * <network-config from="interfaces">.
 *
 * How it works: first every <interface> of the domain becomes a nic, in the domain's order;
 * then each of our <interface> elements is read into the nic that it names.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/interface.h"
#include "domain/network.h"
#include "domain/nic.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* --- which nic it is ---------------------------------------------------------------- */

/* Return: the interfaces as people would name them, owned by the caller (free). */
static char *
describe(const struct interfaces *interfaces)
{
    cleanup_buffer struct buffer text = {0};

    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];

        buffer_append_string(&text, i > 0 ? ", " : "");
        buffer_append_string(&text, interface->mac);
        if (!interface->alias)
            continue;
        buffer_append_string(&text, " (");
        buffer_append_string(&text, interface->alias);
        buffer_append_string(&text, ")");
    }
    return steal(text.data);
}

static bool
is_alias(const char *alias, const char *text)
{
    size_t length = strlen(DEVICE_USER_ALIAS);

    return alias &&
           (strcmp(alias, text) == 0 || (strncmp(alias, DEVICE_USER_ALIAS, length) == 0 &&
                                         strcmp(alias + length, text) == 0));
}

static int
fail_lacking(const struct interfaces *interfaces, const xmlNode *node,
             const char *attribute, const char *value, struct failure **failure)
{
    cleanup_free char *there = describe(interfaces);

    failure_set(failure, FAILURE_NETWORK_CONFIG,
                "<%s> has %s=\"%.64s\", and the domain has no such interface", node->name,
                attribute, value);
    failure_at_line(failure, xml_line(node));
    return failure_hint(failure, "the domain has %s", there);
}

/* Return: the interface's position, or -1. */
static int
find(const struct interfaces *interfaces, const xmlNode *node, const char *mac,
     const char *alias, struct failure **failure)
{
    cleanup_free char *usual = mac ? interface_normalize_mac(mac) : NULL;

    if (mac && !usual)
        return vocabulary_fail_value(node, "mac", mac,
                                     "an address such as \"52:54:00:12:34:56\"", failure);
    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];

        if (mac ? strcmp(interface->mac, usual) == 0 : is_alias(interface->alias, alias))
            return (int)i;
    }
    return fail_lacking(interfaces, node, mac ? "mac" : "alias", mac ? mac : alias,
                        failure);
}

/* Return: the position of the nic that the element names, or -1. */
static int
find_named(const struct interfaces *interfaces, const xmlNode *node,
           struct failure **failure)
{
    cleanup_free char *mac = xml_attribute(node, "mac");
    cleanup_free char *alias = xml_attribute(node, "alias");

    if (!mac == !alias)
        return vocabulary_fail(
            node, failure, FAILURE_REQUEST,
            mac ? "has both mac= and alias=" : "has no mac= or alias=",
            "write one of them, as the domain's own <interface> has it");
    return find(interfaces, node, mac, alias, failure);
}

/* --- what is said of it ------------------------------------------------------------- */

/* What stands below <interface>; `what` is its name in messages. */
struct reader {
    const char *name;
    int (*read)(const struct network *network, struct nic *nic, const char *what,
                const char *text, struct failure **failure);
};

static int
read_address(const struct network *network, struct nic *nic, const char *what,
             const char *text, struct failure **failure)
{
    struct address address;

    if (!address_parse_with_prefix(&address, text))
        return nic_fail_text(
            failure, what, text,
            "an address with its prefix, such as '192.0.2.10/24' or '2001:db8::10/64'");
    return nic_add_address(network, nic, what, &address, failure);
}

static int
read_gateway(const struct network *network, struct nic *nic, const char *what,
             const char *text, struct failure **failure)
{
    (void)network;
    return nic_set_gateway(nic, what, text, failure);
}

static int
read_nameserver(const struct network *network, struct nic *nic, const char *what,
                const char *text, struct failure **failure)
{
    (void)network;
    return nic_add_nameserver(nic, what, text, failure);
}

static int
read_search(const struct network *network, struct nic *nic, const char *what,
            const char *text, struct failure **failure)
{
    (void)network;
    return nic_add_search(nic, what, text, failure);
}

static const struct reader readers[] = {
    {"address", read_address},
    {"gateway", read_gateway},
    {"nameserver", read_nameserver},
    {"search", read_search},
};

static int
read_route(struct nic *nic, const xmlNode *node, struct failure **failure)
{
    const char *const attributes[] = {"to", "via", "metric", NULL};
    cleanup_free char *to = xml_attribute(node, "to");
    cleanup_free char *via = xml_attribute(node, "via");
    cleanup_free char *metric = xml_attribute(node, "metric");
    long number = xml_attribute_number(node, "metric", LIMIT_METRIC);

    if (vocabulary_check_attributes(node, attributes, failure) < 0 ||
        vocabulary_check_no_children(node, failure) < 0 ||
        vocabulary_check_no_text(node, failure) < 0)
        return -1;
    if (!to || !via)
        return vocabulary_fail(node, failure, FAILURE_REQUEST, "lacks to= or via=",
                               "write <route to=\"198.51.100.0/24\" via=\"192.0.2.1\"/>");
    if (metric && number < 1)
        return vocabulary_fail_value(node, "metric", metric, "1 to 4294967295", failure);
    if (nic_add_route(nic, to, via, number, failure) < 0)
        return failure_at_line(failure, xml_line(node));
    return 0;
}

static int
read_child(const struct network *network, struct nic *nic, const xmlNode *parent,
           const xmlNode *node, struct failure **failure)
{
    const char *const none[] = {NULL};

    if (vocabulary_is(node, "route"))
        return read_route(nic, node, failure);
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        cleanup_free char *what = xasprintf("<%s>", readers[i].name);
        cleanup_free char *text = NULL;

        if (!vocabulary_is(node, readers[i].name))
            continue;
        if (vocabulary_check_attributes(node, none, failure) < 0 ||
            vocabulary_check_no_children(node, failure) < 0)
            return -1;
        text = vocabulary_word(node);
        if (readers[i].read(network, nic, what, text, failure) < 0)
            return failure_at_line(failure, xml_line(node));
        return 0;
    }
    return vocabulary_fail_unknown(parent, node, failure);
}

static int
read_mtu(struct nic *nic, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *text = xml_attribute(node, "mtu");
    long number = xml_attribute_number(node, "mtu", LIMIT_MTU);

    if (!text)
        return 0;
    if (number < LIMIT_MTU_MIN)
        return vocabulary_fail_value(node, "mtu", text, "68 to 65535", failure);
    nic->mtu = number;
    return 0;
}

static int
read_accept_ra(struct nic *nic, const xmlNode *node, struct failure **failure)
{
    bool accept_ra = false;

    if (!xmlHasProp(node, (const xmlChar *)"accept-ra"))
        return 0;
    if (vocabulary_read_yes_no(node, "accept-ra", &accept_ra, failure) < 0)
        return -1;
    nic->accept_ra = accept_ra ? ACCEPT_RA_YES : ACCEPT_RA_NO;
    return 0;
}

static int
read_children(const struct network *network, struct nic *nic, const xmlNode *node,
              struct failure **failure)
{
    if (vocabulary_check_no_text(node, failure) < 0)
        return -1;
    for (const xmlNode *child = xml_first_element(node); child;
         child = xml_next_element(child)) {
        if (read_child(network, nic, node, child, failure) < 0)
            return -1;
    }
    return 0;
}

static int
read_nic(const struct network *network, struct nic *nic, const xmlNode *node,
         struct failure **failure)
{
    const char *const attributes[] = {"mac",       "alias",    "dhcp4", "dhcp6",
                                      "accept-ra", "optional", "mtu",   NULL};

    if (vocabulary_check_attributes(node, attributes, failure) < 0 ||
        read_children(network, nic, node, failure) < 0)
        return -1;
    nic->dhcp4 = !nic_has_address(nic, AF_INET);
    if (vocabulary_read_yes_no(node, "dhcp4", &nic->dhcp4, failure) < 0 ||
        vocabulary_read_yes_no(node, "dhcp6", &nic->dhcp6, failure) < 0 ||
        vocabulary_read_yes_no(node, "optional", &nic->optional, failure) < 0 ||
        read_accept_ra(nic, node, failure) < 0 || read_mtu(nic, node, failure) < 0)
        return -1;
    if (nic_finish(nic, failure) < 0)
        return failure_at_line(failure, xml_line(node));
    return 0;
}

/* --- the domain's interfaces -------------------------------------------------------- */

static int
fail_interface(const struct interface *interface, size_t index, const char *problem,
               const char *hint, struct failure **failure)
{
    failure_set(failure, FAILURE_NETWORK_CONFIG, "the domain's <interface> %zu%s%s%s %s",
                index + 1, interface->alias ? " (" : "",
                interface->alias ? interface->alias : "", interface->alias ? ")" : "",
                problem);
    failure_at_line(failure, xml_line(interface->node));
    return failure_hint(failure, "%s", hint);
}

/* The guest knows its nics by their MAC. */
static int
check_macs(const struct interfaces *interfaces, struct failure **failure)
{
    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];

        if (!interface->mac)
            return fail_interface(
                interface, i, "has no <mac address='…'/> that can be read",
                "'virsh define' gives it one; in a file write it", failure);
        for (size_t j = 0; j < i; j++) {
            cleanup_free char *problem = NULL;

            if (strcmp(interfaces->items[j].mac, interface->mac) != 0)
                continue;
            problem =
                xasprintf("has the MAC '%s' of <interface> %zu", interface->mac, j + 1);
            return fail_interface(
                interface, i, problem,
                "give each its own: the guest tells its nics apart by it", failure);
        }
    }
    return 0;
}

static struct network *
make_nics(const struct interfaces *interfaces)
{
    struct network *network = xcalloc(1, sizeof(*network));

    network->of_interfaces = true;
    network->nics = xcalloc(interfaces->count, sizeof(*network->nics));
    network->nic_count = interfaces->count;
    for (size_t i = 0; i < interfaces->count; i++) {
        network->nics[i].mac = xstrdup(interfaces->items[i].mac);
        network->nics[i].dhcp4 = true;
    }
    return network;
}

static int
check_form(const xmlNode *node, const struct interfaces *interfaces,
           struct failure **failure)
{
    const char *const attributes[] = {"from", NULL};

    if (vocabulary_check_attributes(node, attributes, failure) < 0 ||
        vocabulary_check_no_text(node, failure) < 0)
        return -1;
    if (interfaces->count == 0)
        return vocabulary_fail(
            node, failure, FAILURE_NETWORK_CONFIG,
            "has from=\"interfaces\", and the domain has no <interface>",
            "remove the element, or add an interface");
    return check_macs(interfaces, failure);
}

static int
read_interfaces(struct network *network, const struct interfaces *interfaces,
                const xmlNode *node, struct failure **failure)
{
    bool named[LIMIT_NICS] = {false};

    for (const xmlNode *child = xml_first_element(node); child;
         child = xml_next_element(child)) {
        int index;

        if (!vocabulary_is(child, "interface"))
            return vocabulary_fail_unknown(node, child, failure);
        index = find_named(interfaces, child, failure);
        if (index < 0)
            return -1;
        if (named[index])
            return vocabulary_fail(child, failure, FAILURE_NETWORK_CONFIG,
                                   "names an interface for the second time",
                                   "put all of it into one element");
        named[index] = true;
        if (read_nic(network, &network->nics[index], child, failure) < 0)
            return -1;
    }
    return 0;
}

struct network *
network_read(const xmlNode *node, const struct domain *domain, struct failure **failure)
{
    cleanup_interfaces struct interfaces interfaces = {0};
    struct network *network;

    if (interfaces_read(&interfaces, domain, failure) < 0 ||
        check_form(node, &interfaces, failure) < 0)
        return NULL;
    network = make_nics(&interfaces);
    if (read_interfaces(network, &interfaces, node, failure) == 0)
        return network;
    network_free(network);
    return NULL;
}
