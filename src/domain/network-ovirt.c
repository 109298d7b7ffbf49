/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oVirt's <nic_configurations> (type NicConfiguration of its REST API), and the same
 * fields as the deprecated type CloudInit arranges them:
 * <network_configuration><nics><nic>… with <ip> in <network>.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/network.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* --- elements ----------------------------------------------------------------------- */

struct ip {
    const xmlNode *node; /* <ip> or <ipv6>; NULL if there is none */
    char *address;       /* NULL if there is none, like all text here */
    char *netmask;
    char *gateway;
    char *version;
};

/* The content of a nic's element. */
struct words {
    char *name;
    char *on_boot;
    char *boot_protocol;
    char *ipv6_boot_protocol;
    struct ip ip;
    struct ip ipv6;
};

static const struct vocabulary_element ip_elements[] = {
    {"address", .text = offsetof(struct ip, address)},
    {"netmask", .text = offsetof(struct ip, netmask)},
    {"gateway", .text = offsetof(struct ip, gateway)},
    {"version", .text = offsetof(struct ip, version), .flags = VOCABULARY_KEYWORD},
    {0},
};

static int
read_ip(void *data, const xmlNode *node, struct failure **failure)
{
    struct words *words = data;
    struct ip *ip = vocabulary_is(node, "ip") ? &words->ip : &words->ipv6;

    ip->node = node;
    return vocabulary_read_children(node, ip_elements, ip, failure);
}

#define KEYWORD(member)                                                                  \
#member, .text = offsetof(struct words, member), .flags = VOCABULARY_KEYWORD

static const struct vocabulary_element nic_configuration_elements[] = {
    {"name", .text = offsetof(struct words, name)},
    {KEYWORD(on_boot)},
    {KEYWORD(boot_protocol)},
    {"ip", .read = read_ip, .children = ip_elements},
    {KEYWORD(ipv6_boot_protocol)},
    {"ipv6", .read = read_ip, .children = ip_elements},
    {0},
};

static const struct vocabulary_element network_elements[] = {
    {"ip", .read = read_ip, .children = ip_elements},
    {0},
};
static const struct vocabulary_element nic_elements[] = {
    {"name", .text = offsetof(struct words, name)},
    {KEYWORD(on_boot)},
    {KEYWORD(boot_protocol)},
    {"network", .children = network_elements},
    {0},
};

static int
fail_text(const xmlNode *node, const char *name, const char *text, const char *expected,
          struct failure **failure)
{
    cleanup_free char *what = xasprintf("<%s>", name);

    nic_fail_text(failure, what, text, expected);
    return failure_at_line(failure, xml_line(vocabulary_child(node, name)));
}

/* --- protocols ---------------------------------------------------------------------- */

enum protocol {
    NONE,
    DHCP,
    STATIC,
    AUTOCONF,
    POLY_DHCP_AUTOCONF,
};

static const char *const protocols[] = {
    [NONE] = "none",
    [DHCP] = "dhcp",
    [STATIC] = "static",
    [AUTOCONF] = "autoconf",
    [POLY_DHCP_AUTOCONF] = "poly_dhcp_autoconf",
};

/* --- addresses ---------------------------------------------------------------------- */

static int
add_static(const struct network *network, struct nic *nic, const struct ip *ip,
           int family, struct failure **failure)
{
    const char *expected = family == AF_INET ? "an IPv4 address" : "an IPv6 address";
    struct address address, gateway;

    if (!address_parse(&address, ip->address) || address.family != family)
        return fail_text(ip->node, "address", ip->address, expected, failure);
    if (!ip->netmask)
        return vocabulary_fail(ip->node, failure, FAILURE_NETWORK_CONFIG,
                               "has an <address> without <netmask>\n"
                               "write <netmask>24</netmask> or "
                               "<netmask>255.255.255.0</netmask>, to match the network");
    if (!address_set_prefix(&address, ip->netmask))
        return fail_text(ip->node, "netmask", ip->netmask,
                         family == AF_INET ? "a netmask such as '255.255.255.0' or '24'"
                                           : "a prefix length, 0 to 128",
                         failure);
    if (nic_add_address(network, nic, "<address>", &address, failure) < 0)
        return failure_at_line(failure, xml_line(ip->node));
    if (!ip->gateway)
        return 0;
    if (!address_parse(&gateway, ip->gateway) || gateway.family != family)
        return fail_text(ip->node, "gateway", ip->gateway, expected, failure);
    if (nic_set_gateway(nic, "<gateway>", ip->gateway, failure) < 0)
        return failure_at_line(failure, xml_line(ip->node));
    return 0;
}

/* oVirt's SDKs write protocols in upper or lower case. As in its engine, the default is
 * "none". */
static int
read_family(const struct network *network, struct nic *nic, const xmlNode *node,
            const char *word, const struct ip *ip, int family, struct failure **failure)
{
    const bool is4 = family == AF_INET;
    const char *name = is4 ? "boot_protocol" : "ipv6_boot_protocol";
    const enum protocol last = is4 ? STATIC : POLY_DHCP_AUTOCONF;
    enum protocol protocol = NONE;

    while (word && protocol <= last && strcasecmp(word, protocols[protocol]) != 0)
        protocol++;
    if (protocol > last)
        return fail_text(
            node, name, word,
            is4 ? "'none', 'dhcp' or 'static'"
                : "'none', 'dhcp', 'static', 'autoconf' or 'poly_dhcp_autoconf'",
            failure);
    if (ip->version && strcasecmp(ip->version, is4 ? "v4" : "v6") != 0)
        return fail_text(ip->node, "version", ip->version,
                         is4 ? "'v4' in <ip>" : "'v6' in <ipv6>", failure);
    if (protocol == STATIC && !ip->address)
        return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG,
                               "has a <%s> 'static' without an <address>\n"
                               "write <%s><address>…</address>…</%s>",
                               name, is4 ? "ip" : "ipv6", is4 ? "ip" : "ipv6");
    if (protocol == STATIC)
        return add_static(network, nic, ip, family, failure);
    /* Otherwise they would be ignored. */
    if (ip->address || ip->gateway)
        return failure_set_at(failure, FAILURE_NETWORK_CONFIG, xml_line(ip->node),
                              "<%s> has an <address> or <gateway>, but <%s> is '%s'\n"
                              "use 'static', or remove them",
                              ip->node->name, name, protocols[protocol]);
    if (is4) {
        nic->dhcp4 = protocol == DHCP;
        return 0;
    }
    nic->dhcp6 = protocol == DHCP || protocol == POLY_DHCP_AUTOCONF;
    if (protocol == AUTOCONF || protocol == POLY_DHCP_AUTOCONF)
        nic->accept_ra = ACCEPT_RA_YES;
    return 0;
}

/* --- a nic -------------------------------------------------------------------------- */

static int
set_name(const struct network *network, struct nic *nic, const xmlNode *node,
         struct words *words, struct failure **failure)
{
    /* What netplan, networkd and ifupdown all accept; the kernel allows more. */
    const char *const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._-";
    cleanup_free char *expected = xasprintf(
        "1 to %d letters, digits, dots, dashes and underscores", LIMIT_NIC_NAME);

    if (!words->name)
        return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG,
                               "has no <name>\n"
                               "write the guest's name for it: "
                               "<name>eth0</name>");
    if (strlen(words->name) > LIMIT_NIC_NAME || strchr("._-", *words->name) ||
        words->name[strspn(words->name, known)] || strcmp(words->name, "lo") == 0)
        return fail_text(node, "name", words->name, expected, failure);
    for (size_t i = 0; i < network->nic_count; i++) {
        if (!network->nics[i].name || strcmp(network->nics[i].name, words->name) != 0)
            continue;
        return failure_set_at(failure, FAILURE_NETWORK_CONFIG, xml_line(node),
                              "duplicate nic '%s'\nmerge them into one <%s>", words->name,
                              node->name);
    }
    nic->name = steal(words->name);
    return 0;
}

static void
ip_clear(struct ip *ip)
{
    free(ip->address);
    free(ip->netmask);
    free(ip->gateway);
    free(ip->version);
}

static void
words_clear(struct words *words)
{
    free(words->name);
    free(words->on_boot);
    free(words->boot_protocol);
    free(words->ipv6_boot_protocol);
    ip_clear(&words->ip);
    ip_clear(&words->ipv6);
}

static int
read_nic(void *data, const xmlNode *node, struct failure **failure)
{
    struct network *network = data;
    __attribute__((cleanup(words_clear))) struct words words = {0};
    struct nic *nic;

    if (vocabulary_read_children(
            node, vocabulary_is(node, "nic") ? nic_elements : nic_configuration_elements,
            &words, failure) < 0)
        return -1;
    if (network->nic_count == LIMIT_NICS)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "is one too many, at most %d nics\n"
                               "write <network-config> as text",
                               LIMIT_NICS);
    nic = array_add(network->nics, network->nic_count);
    if (set_name(network, nic, node, &words, failure) < 0)
        return -1;
    if (words.on_boot && strcasecmp(words.on_boot, "false") == 0)
        /* Of cloud-init's renderers only netplan's can keep an interface down. oVirt's
         * engine rejects it, too. */
        return vocabulary_fail(
            vocabulary_child(node, "on_boot"), failure, FAILURE_NETWORK_CONFIG,
            "is 'false', but cloud-init brings up every nic that is configured\n"
            "remove the nic from the configuration, or write 'true'");
    if (words.on_boot && strcasecmp(words.on_boot, "true") != 0)
        return fail_text(node, "on_boot", words.on_boot, "'true'", failure);
    if (read_family(network, nic, node, words.boot_protocol, &words.ip, AF_INET,
                    failure) < 0 ||
        read_family(network, nic, node, words.ipv6_boot_protocol, &words.ipv6, AF_INET6,
                    failure) < 0)
        return -1;
    if (nic_finish(nic, failure) < 0)
        return failure_at_line(failure, xml_line(node));
    return 0;
}

const struct vocabulary_element network_nic_configurations_elements[] = {
    {"nic_configuration", .read = read_nic, .children = nic_configuration_elements,
     .flags = VOCABULARY_SEVERAL},
    {0},
};

static const struct vocabulary_element nics_elements[] = {
    {"nic", .read = read_nic, .children = nic_elements, .flags = VOCABULARY_SEVERAL},
    {0},
};
const struct vocabulary_element network_configuration_elements[] = {
    {"nics", .children = nics_elements},
    {0},
};

int
network_read_nic_configurations(struct network *network, const xmlNode *node,
                                struct failure **failure)
{
    return vocabulary_read_children(node,
                                    vocabulary_is(node, "network_configuration")
                                        ? network_configuration_elements
                                        : network_nic_configurations_elements,
                                    network, failure);
}
