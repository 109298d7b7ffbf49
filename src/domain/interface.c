/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>

#include "domain/address.h"
#include "domain/domain.h"
#include "domain/xml.h"

char *
interface_normalize_mac(const char *text)
{
    unsigned int mac[6];
    int length = 0;

    /* sscanf(3) also takes signs, blanks and "0x". */
    if (text[strspn(text, "0123456789abcdefABCDEF:")])
        return NULL;
    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &mac[0], &mac[1], &mac[2], &mac[3],
               &mac[4], &mac[5], &length) != 6)
        return NULL;
    if (text[length])
        return NULL;
    return xasprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                     mac[4], mac[5]);
}

/* --- all devices -------------------------------------------------------------------- */

char *
device_alias(const xmlNode *node)
{
    return xml_attribute(xml_child(node, "alias"), "name");
}

char *
device_mac(const xmlNode *node)
{
    cleanup_free char *text = xml_attribute(xml_child(node, "mac"), "address");

    return text ? interface_normalize_mac(text) : NULL;
}

/* libvirt writes the numbers in hex ("0x01"), and reads any base and blanks before. Return:
 * the number, or -1. */
static long
pci_number(const xmlNode *address, const char *name, long maximum)
{
    cleanup_free char *text = xml_attribute(address, name);
    char *end = NULL;
    long number;

    if (!text)
        return 0;
    if (!isdigit((unsigned char)text[strspn(text, " ")]))
        return -1;
    number = strtol(text, &end, 0);
    return *end || number > maximum ? -1 : number;
}

char *
device_pci_address(const xmlNode *node)
{
    const xmlNode *address = xml_child(node, "address");
    const long domain = pci_number(address, "domain", 0xffff);
    const long bus = pci_number(address, "bus", 0xff);
    const long slot = pci_number(address, "slot", 0x1f);
    const long function = pci_number(address, "function", 7);

    if (!xml_attribute_is(address, "type", "pci") ||
        !xmlHasProp(address, (const xmlChar *)"slot"))
        return NULL;
    /* None may be wrong, -1. */
    if ((domain | bus | slot | function) < 0)
        return NULL;
    return xasprintf("%04lx:%02lx:%02lx.%lx", domain, bus, slot, function);
}

/* --- the interfaces ----------------------------------------------------------------- */

int
interfaces_read(struct interfaces *interfaces, const struct domain *domain,
                struct failure **failure)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    size_t count = 0;

    *interfaces = (struct interfaces){0};
    xml_foreach(node, devices, "interface")
        count++;
    if (count > LIMIT_NICS)
        return failure_set(failure, FAILURE_LIMIT,
                           "the domain has %zu interfaces, at most %d\n"
                           "write <network-config> as text",
                           count, LIMIT_NICS);
    interfaces->items = xcalloc(count, sizeof(*interfaces->items));
    xml_foreach(node, devices, "interface")
        interfaces->items[interfaces->count++] = (struct interface){
            .node = node,
            .mac = device_mac(node),
            .alias = device_alias(node),
            .type = xml_attribute(node, "type"),
        };
    return 0;
}

void
interfaces_clear(struct interfaces *interfaces)
{
    for (size_t i = 0; i < interfaces->count; i++) {
        struct interface *interface = &interfaces->items[i];

        free(interface->mac);
        free(interface->alias);
        free(interface->type);
    }
    free(interfaces->items);
    *interfaces = (struct interfaces){0};
}

bool
interface_mac_is_missing(const struct domain *domain, const char *mac)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    cleanup_free char *wanted = interface_normalize_mac(mac);
    int count = 0;

    xml_foreach(node, devices, "interface") {
        cleanup_free char *found = device_mac(node);

        if (!found || ++count > LIMIT_NICS)
            return false;
        if (wanted && strcmp(found, wanted) == 0)
            return false;
    }
    xml_foreach(node, devices, "hostdev") {
        if (xml_attribute_is(node, "type", "pci") ||
            xml_attribute_is(node, "type", "mdev"))
            return false;
    }
    return true;
}

/* --- forwarded ports ---------------------------------------------------------------- */

#define LAST_PORT 65535

/* Return: the host's port that leads to that of the guest, or 0. `range` is the first one of
 * <portForward>. */
static long
find_forwarded(const xmlNode *range, long guest_port)
{
    for (; range; range = xml_next(range, "range")) {
        const long start = xml_attribute_number(range, "start", LAST_PORT);
        const long end = xml_attribute_number(range, "end", LAST_PORT);
        const long to = xml_attribute_number(range, "to", LAST_PORT);
        const long last = end < 0 ? start : end;
        const long port = start + guest_port - (to < 0 ? start : to);

        if (start > 0 && port >= start && port <= last &&
            !xml_attribute_is(range, "exclude", "yes"))
            return port;
    }
    return 0;
}

/* Return: whether the host reaches the port at an address, which `usual` then gets: that of
 * <portForward>, or the host's own if the port is forwarded from all of them. */
static bool
read_forwarding_address(char usual[INET6_ADDRSTRLEN], const xmlNode *forward)
{
    cleanup_free char *text = xml_attribute(forward, "address");
    const char *host = text;
    struct address address;

    if (!text || strcmp(text, "0.0.0.0") == 0)
        host = "127.0.0.1";
    else if (strcmp(text, "::") == 0)
        host = "::1";
    return address_parse(&address, host) &&
           inet_ntop(address.family, address.bytes, usual, INET6_ADDRSTRLEN);
}

long
domain_find_forwarding(const struct domain *domain, long guest_port,
                       char address[INET6_ADDRSTRLEN])
{
    xml_foreach(interface, xml_child(domain->root, "devices"), "interface") {
        xml_foreach(forward, interface, "portForward") {
            const long port = find_forwarded(xml_child(forward, "range"), guest_port);

            if (port > 0 && xml_attribute_is(forward, "proto", "tcp") &&
                read_forwarding_address(address, forward))
                return port;
        }
    }
    return 0;
}
