/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interfaces(5), of which cloud-init's own reader takes one stanza for each name: the
 * second address is one of "NAME:1", which it puts together with NAME again.
 */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/address.h"
#include "seed/network.h"

static void
append_line(struct buffer *buffer, const char *key, const char *value)
{
    cleanup_free char *line = xasprintf("    %s %s\n", key, value);

    buffer_append_string(buffer, line);
}

static void
append_words(struct buffer *buffer, const char *key, char *const *words, size_t count)
{
    if (count == 0)
        return;
    buffer_append_string(buffer, "    ");
    buffer_append_string(buffer, key);
    for (size_t i = 0; i < count; i++) {
        buffer_append_string(buffer, " ");
        buffer_append_string(buffer, words[i]);
    }
    buffer_append_string(buffer, "\n");
}

/* Begins the stanza of a nic's address; `index` counts them. */
static void
begin_stanza(struct buffer *buffer, const struct nic *nic, size_t index,
             const char *family, const char *method)
{
    cleanup_free char *name =
        index > 0 ? xasprintf("%s:%zu", nic->name, index) : xstrdup(nic->name);
    cleanup_free char *text =
        xasprintf("%sauto %s\niface %s %s %s\n", buffer->size > 0 ? "\n" : "", name, name,
                  family, method);

    buffer_append_string(buffer, text);
}

static void
append_dns(struct buffer *buffer, const struct nic *nic)
{
    append_words(buffer, "dns-nameservers", nic->nameservers, nic->nameserver_count);
    append_words(buffer, "dns-search", nic->searches, nic->search_count);
}

static void
append_address(struct buffer *buffer, const struct nic *nic, size_t index,
               const char *text, const char *gateway)
{
    bool ipv6 = strchr(text, ':');
    struct address address;
    cleanup_free char *host = NULL;
    cleanup_free char *netmask = NULL;

    address_parse_with_prefix(&address, text);
    host = address_format(&address);
    netmask = ipv6 ? xasprintf("%d", address.prefix) : address_format_netmask(&address);
    begin_stanza(buffer, nic, index, ipv6 ? "inet6" : "inet", "static");
    append_line(buffer, "address", host);
    append_line(buffer, "netmask", netmask);
    if (gateway)
        append_line(buffer, "gateway", gateway);
}

/* The gateway stands at the first address of its family, name servers at the first address:
 * netplan's renderer does not see them at DHCP's. */
static void
append_nic(struct buffer *buffer, const struct nic *nic)
{
    const char *gateways[] = {nic->gateway4, nic->gateway6};
    size_t index = 0;

    if (nic->dhcp4)
        begin_stanza(buffer, nic, index++, "inet", "dhcp");
    else if (nic->address_count == 0)
        begin_stanza(buffer, nic, index++, "inet", "manual");
    for (size_t i = 0; i < nic->address_count; i++) {
        const char **gateway = &gateways[strchr(nic->addresses[i], ':') ? 1 : 0];

        append_address(buffer, nic, index++, nic->addresses[i], *gateway);
        *gateway = NULL;
        if (i == 0)
            append_dns(buffer, nic);
    }
    if (nic->address_count == 0)
        append_dns(buffer, nic);
}

static int
check_nic(const struct nic *nic, struct failure **failure)
{
    if (nic->name && !nic->dhcp6 && nic->accept_ra != ACCEPT_RA_YES && nic->mtu == 0 &&
        nic->route_count == 0)
        return 0;
    failure_set(failure, FAILURE_NETWORK_CONFIG,
                "the nic '%s' has DHCPv6, autoconfiguration, an MTU or routes, which "
                "cloud-init does not take from interfaces(5)",
                nic->name ? nic->name : nic->mac);
    return failure_hint(failure, "write <cloud_init_network_protocol>openstack_metadata"
                                 "</cloud_init_network_protocol>");
}

int
network_write_eni(struct buffer *buffer, const struct network *network,
                  struct failure **failure)
{
    if (network_check_configdrive(network, failure) < 0)
        return -1;
    for (size_t i = 0; i < network->nic_count; i++) {
        if (check_nic(&network->nics[i], failure) < 0)
            return -1;
        append_nic(buffer, &network->nics[i]);
    }
    return 0;
}
