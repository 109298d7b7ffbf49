/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oVirt's <nic_configurations> (type NicConfiguration of its REST API), and the shape that
 * the deprecated type CloudInit has of the same fields:
 * <network_configuration><nics><nic>… with its <ip> below <network>.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/network.h"
#include "domain/nic.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* --- elements ----------------------------------------------------------------------- */

struct ip {
    const xmlNode *node; /* <ip> or <ipv6>; NULL where there is none */
    char *address;       /* NULL where there is none; the same holds for all text here */
    char *netmask;
    char *gateway;
    char *version;
};

/* What a nic's element says. */
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

#define NAME                                                                             \
    {                                                                                    \
        "name", .text = offsetof(struct words, name)                                     \
    }
#define ON_BOOT                                                                          \
    {                                                                                    \
        "on_boot", .text = offsetof(struct words, on_boot), .flags = VOCABULARY_KEYWORD  \
    }
#define BOOT_PROTOCOL                                                                    \
    {                                                                                    \
        "boot_protocol", .text = offsetof(struct words, boot_protocol),                  \
                         .flags = VOCABULARY_KEYWORD                                     \
    }
#define IP                                                                               \
    {                                                                                    \
        "ip", .read = read_ip, .children = ip_elements                                   \
    }

static const struct vocabulary_element nic_configuration_elements[] = {
    NAME,
    ON_BOOT,
    BOOT_PROTOCOL,
    IP,
    {"ipv6_boot_protocol", .text = offsetof(struct words, ipv6_boot_protocol),
     .flags = VOCABULARY_KEYWORD},
    {"ipv6", .read = read_ip, .children = ip_elements},
    {0},
};

static const struct vocabulary_element network_elements[] = {IP, {0}};
static const struct vocabulary_element nic_elements[] = {
    NAME, ON_BOOT, BOOT_PROTOCOL, {"network", .children = network_elements}, {0},
};

static const xmlNode *
find_child(const xmlNode *node, const char *name)
{
    const xmlNode *child = xml_first_element(node);

    while (child && !vocabulary_is(child, name))
        child = xml_next_element(child);
    return child;
}

static int
fail_text(const xmlNode *node, const char *name, const char *text, const char *expected,
          struct failure **failure)
{
    cleanup_free char *what = xasprintf("<%s>", name);

    nic_fail_text(failure, what, text, expected);
    return failure_at_line(failure, xml_line(find_child(node, name)));
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

/* oVirt's SDKs have them in upper and in lower case; missing is "none", as for its engine. */
static int
read_protocol(const xmlNode *node, const char *text, int family, enum protocol *protocol,
              struct failure **failure)
{
    enum protocol last = family == AF_INET ? STATIC : POLY_DHCP_AUTOCONF;

    *protocol = NONE;
    if (!text)
        return 0;
    for (enum protocol i = NONE; i <= last; i++) {
        if (strcasecmp(text, protocols[i]) != 0)
            continue;
        *protocol = i;
        return 0;
    }
    return fail_text(node, family == AF_INET ? "boot_protocol" : "ipv6_boot_protocol",
                     text,
                     family == AF_INET
                         ? "'none', 'dhcp' or 'static'"
                         : "'none', 'dhcp', 'static', 'autoconf' or 'poly_dhcp_autoconf'",
                     failure);
}

/* --- addresses ---------------------------------------------------------------------- */

static void
ip_clear(struct ip *ip)
{
    free(ip->address);
    free(ip->netmask);
    free(ip->gateway);
    free(ip->version);
}

static int
parse_address(struct address *address, const struct ip *ip, int family,
              struct failure **failure)
{
    if (!address_parse(address, ip->address) || address->family != family)
        return fail_text(ip->node, "address", ip->address,
                         family == AF_INET ? "an IPv4 address" : "an IPv6 address",
                         failure);
    if (!ip->netmask)
        return vocabulary_fail(ip->node, failure, FAILURE_NETWORK_CONFIG,
                               "has an <address> without <netmask>",
                               "write <netmask>24</netmask> or "
                               "<netmask>255.255.255.0</netmask>, as the network has it");
    if (!address_set_prefix(address, ip->netmask))
        return fail_text(ip->node, "netmask", ip->netmask,
                         family == AF_INET ? "a netmask such as '255.255.255.0' or '24'"
                                           : "the length of a prefix, 0 to 128",
                         failure);
    return 0;
}

static int
add_static(const struct network *network, struct nic *nic, const struct ip *ip,
           int family, struct failure **failure)
{
    struct address address, gateway;

    if (parse_address(&address, ip, family, failure) < 0)
        return -1;
    if (nic_add_address(network, nic, "<address>", &address, failure) < 0)
        return failure_at_line(failure, xml_line(ip->node));
    if (!ip->gateway)
        return 0;
    if (!address_parse(&gateway, ip->gateway) || gateway.family != family)
        return fail_text(ip->node, "gateway", ip->gateway,
                         family == AF_INET ? "an IPv4 address" : "an IPv6 address",
                         failure);
    if (nic_set_gateway(nic, "<gateway>", ip->gateway, failure) < 0)
        return failure_at_line(failure, xml_line(ip->node));
    return 0;
}

/* Only static addresses are used; elsewhere they would be passed over without a word. */
static int
check_ip(const xmlNode *node, const struct ip *ip, enum protocol protocol, int family,
         struct failure **failure)
{
    const char *name = family == AF_INET ? "boot_protocol" : "ipv6_boot_protocol";

    if (protocol == STATIC && !ip->address)
        return failure_set_at(failure, FAILURE_NETWORK_CONFIG, xml_line(node),
                              "<%s> has a <%s> 'static' without an <address>\n"
                              "write <%s><address>…</address>…</%s>",
                              node->name, name, family == AF_INET ? "ip" : "ipv6",
                              family == AF_INET ? "ip" : "ipv6");
    if (protocol == STATIC || (!ip->address && !ip->gateway))
        return 0;
    return failure_set_at(failure, FAILURE_NETWORK_CONFIG, xml_line(ip->node),
                          "<%s> has an <address> or <gateway>, and <%s> is '%s'\n"
                          "write 'static', or remove them",
                          ip->node->name, name, protocols[protocol]);
}

static int
read_family(const struct network *network, struct nic *nic, const xmlNode *node,
            const char *word, const struct ip *ip, int family, struct failure **failure)
{
    enum protocol protocol;

    if (read_protocol(node, word, family, &protocol, failure) < 0)
        return -1;
    if (ip->version && strcasecmp(ip->version, family == AF_INET ? "v4" : "v6") != 0)
        return fail_text(ip->node, "version", ip->version,
                         family == AF_INET ? "'v4' in <ip>" : "'v6' in <ipv6>", failure);
    if (check_ip(node, ip, protocol, family, failure) < 0)
        return -1;
    if (family == AF_INET) {
        nic->dhcp4 = protocol == DHCP;
    } else {
        nic->dhcp6 = protocol == DHCP || protocol == POLY_DHCP_AUTOCONF;
        if (protocol == AUTOCONF || protocol == POLY_DHCP_AUTOCONF)
            nic->accept_ra = ACCEPT_RA_YES;
    }
    return protocol == STATIC ? add_static(network, nic, ip, family, failure) : 0;
}

/* --- a nic -------------------------------------------------------------------------- */

/* netplan, networkd and ifupdown all take such a name as it is; the kernel's own rule is
 * wider. */
static bool
is_name(const char *name)
{
    const char *const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._-";

    return strlen(name) <= LIMIT_NIC_NAME && !strchr("._-", *name) &&
           strspn(name, known) == strlen(name) && strcmp(name, "lo") != 0;
}

static int
set_name(const struct network *network, struct nic *nic, const xmlNode *node,
         struct words *words, struct failure **failure)
{
    if (!words->name)
        return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG, "has no <name>",
                               "write the name that the guest has for it: "
                               "<name>eth0</name>");
    if (!is_name(words->name))
        return fail_text(node, "name", words->name,
                         "1 to 15 letters, digits, dots, dashes and underscores",
                         failure);
    for (size_t i = 0; i < network->nic_count; i++) {
        if (!network->nics[i].name || strcmp(network->nics[i].name, words->name) != 0)
            continue;
        return failure_set_at(failure, FAILURE_NETWORK_CONFIG, xml_line(node),
                              "the nic '%s' is there twice\nput all of it into one <%s>",
                              words->name, node->name);
    }
    nic->name = steal(words->name);
    return 0;
}

/* No renderer of cloud-init but netplan's knows of an interface that stays down, and
 * oVirt's engine refuses it, too. */
static int
check_on_boot(const xmlNode *node, const char *text, struct failure **failure)
{
    if (!text || strcasecmp(text, "true") == 0)
        return 0;
    if (strcasecmp(text, "false") != 0)
        return fail_text(node, "on_boot", text, "'true'", failure);
    return vocabulary_fail(find_child(node, "on_boot"), failure, FAILURE_NETWORK_CONFIG,
                           "is 'false', and cloud-init brings up every nic it is told of",
                           "remove the nic from the configuration, or write 'true'");
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
        return vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                               "at most 256 nics");
    nic = array_add(network->nics, network->nic_count);
    *nic = (struct nic){0};
    if (set_name(network, nic, node, &words, failure) < 0 ||
        check_on_boot(node, words.on_boot, failure) < 0 ||
        read_family(network, nic, node, words.boot_protocol, &words.ip, AF_INET,
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
