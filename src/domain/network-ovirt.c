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

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/network.h"
#include "domain/nic.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

static const char *const no_attributes[] = {NULL};

/* --- elements ----------------------------------------------------------------------- */

/* The children are those known, each once; NULL ends them. */
static int
check_children(const xmlNode *node, const char *const *known, struct failure **failure)
{
    if (vocabulary_check_attributes(node, no_attributes, failure) < 0 ||
        vocabulary_check_no_text(node, failure) < 0)
        return -1;
    for (const xmlNode *child = xml_first_element(node); child;
         child = xml_next_element(child)) {
        const char *const *match = known;

        while (*match && !vocabulary_is(child, *match))
            match++;
        if (!*match)
            return vocabulary_fail_unknown(node, child, failure);
        if (vocabulary_check_once(child, failure) < 0)
            return -1;
    }
    return 0;
}

static const xmlNode *
find_child(const xmlNode *node, const char *name)
{
    const xmlNode *child = node ? xml_first_element(node) : NULL;

    while (child && !vocabulary_is(child, name))
        child = xml_next_element(child);
    return child;
}

/*
 * Reads the text of a child; one without text is as good as none.
 * `text` gets it, owned by the caller (free), or NULL.
 */
static int
read_text(const xmlNode *node, const char *name, char **text, struct failure **failure)
{
    const xmlNode *child = find_child(node, name);

    *text = NULL;
    if (!child)
        return 0;
    if (vocabulary_check_attributes(child, no_attributes, failure) < 0 ||
        vocabulary_check_no_children(child, failure) < 0)
        return -1;
    *text = vocabulary_word(child);
    if (!**text)
        free(steal(*text));
    return 0;
}

static int
fail_text(const xmlNode *node, const char *name, const char *text, const char *expected,
          struct failure **failure)
{
    cleanup_free char *what = xasprintf("<%s>", name);

    nic_fail_text(failure, what, text, expected);
    return failure_at_line(failure, xml_line(node));
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
read_protocol(const xmlNode *node, int family, enum protocol *protocol,
              struct failure **failure)
{
    const char *name = family == AF_INET ? "boot_protocol" : "ipv6_boot_protocol";
    enum protocol last = family == AF_INET ? STATIC : POLY_DHCP_AUTOCONF;
    cleanup_free char *text = NULL;

    *protocol = NONE;
    if (read_text(node, name, &text, failure) < 0)
        return -1;
    for (enum protocol i = NONE; text && i <= last; i++) {
        if (strcasecmp(text, protocols[i]) != 0)
            continue;
        *protocol = i;
        return 0;
    }
    if (!text)
        return 0;
    return fail_text(find_child(node, name), name, text,
                     family == AF_INET
                         ? "'none', 'dhcp' or 'static'"
                         : "'none', 'dhcp', 'static', 'autoconf' or 'poly_dhcp_autoconf'",
                     failure);
}

/* --- addresses ---------------------------------------------------------------------- */

struct ip {
    const xmlNode *node; /* <ip> or <ipv6>; NULL where there is none */
    char *address;       /* NULL where there is none; the same holds for all text here */
    char *netmask;
    char *gateway;
    char *version;
};

static void
ip_clear(struct ip *ip)
{
    free(ip->address);
    free(ip->netmask);
    free(ip->gateway);
    free(ip->version);
}

static int
check_version(const struct ip *ip, int family, struct failure **failure)
{
    const char *expected = family == AF_INET ? "v4" : "v6";

    if (!ip->version || strcasecmp(ip->version, expected) == 0)
        return 0;
    return fail_text(ip->node, "version", ip->version,
                     family == AF_INET ? "'v4' in <ip>" : "'v6' in <ipv6>", failure);
}

static int
read_ip(struct ip *ip, const xmlNode *node, int family, struct failure **failure)
{
    const char *const known[] = {"address", "netmask", "gateway", "version", NULL};

    *ip = (struct ip){.node = node};
    if (!node)
        return 0;
    if (check_children(node, known, failure) < 0 ||
        read_text(node, "address", &ip->address, failure) < 0 ||
        read_text(node, "netmask", &ip->netmask, failure) < 0 ||
        read_text(node, "gateway", &ip->gateway, failure) < 0 ||
        read_text(node, "version", &ip->version, failure) < 0)
        return -1;
    return check_version(ip, family, failure);
}

static int
parse_address(struct address *address, const struct ip *ip, int family,
              struct failure **failure)
{
    if (!address_parse(address, ip->address) || address->family != family)
        return fail_text(find_child(ip->node, "address"), "address", ip->address,
                         family == AF_INET ? "an IPv4 address" : "an IPv6 address",
                         failure);
    if (!ip->netmask)
        return vocabulary_fail(ip->node, failure, FAILURE_NETWORK_CONFIG,
                               "has an <address> without <netmask>",
                               "write <netmask>24</netmask> or "
                               "<netmask>255.255.255.0</netmask>, as the network has it");
    if (!address_set_prefix(address, ip->netmask))
        return fail_text(find_child(ip->node, "netmask"), "netmask", ip->netmask,
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
        return fail_text(find_child(ip->node, "gateway"), "gateway", ip->gateway,
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

    if (protocol == STATIC && !ip->address) {
        failure_set(failure, FAILURE_NETWORK_CONFIG,
                    "<%s> has a <%s> 'static' without an <address>", node->name, name);
        failure_at_line(failure, xml_line(node));
        return failure_hint(failure, "write <%s><address>…</address>…</%s>",
                            family == AF_INET ? "ip" : "ipv6",
                            family == AF_INET ? "ip" : "ipv6");
    }
    if (protocol == STATIC || (!ip->address && !ip->gateway))
        return 0;
    failure_set(failure, FAILURE_NETWORK_CONFIG,
                "<%s> has an <address> or <gateway>, and <%s> is '%s'", ip->node->name,
                name, protocols[protocol]);
    failure_at_line(failure, xml_line(ip->node));
    return failure_hint(failure, "write 'static', or remove them");
}

static void
set_protocol(struct nic *nic, int family, enum protocol protocol)
{
    if (family == AF_INET) {
        nic->dhcp4 = protocol == DHCP;
        return;
    }
    nic->dhcp6 = protocol == DHCP || protocol == POLY_DHCP_AUTOCONF;
    if (protocol == AUTOCONF || protocol == POLY_DHCP_AUTOCONF)
        nic->accept_ra = ACCEPT_RA_YES;
}

static int
read_family(const struct network *network, struct nic *nic, const xmlNode *node,
            int family, struct failure **failure)
{
    const char *name = family == AF_INET ? "ip" : "ipv6";
    const xmlNode *below = find_child(node, "network");
    __attribute__((cleanup(ip_clear))) struct ip ip = {0};
    enum protocol protocol;

    if (read_protocol(node, family, &protocol, failure) < 0 ||
        read_ip(&ip, find_child(below ? below : node, name), family, failure) < 0 ||
        check_ip(node, &ip, protocol, family, failure) < 0)
        return -1;
    set_protocol(nic, family, protocol);
    return protocol == STATIC ? add_static(network, nic, &ip, family, failure) : 0;
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
read_name(const struct network *network, struct nic *nic, const xmlNode *node,
          struct failure **failure)
{
    cleanup_free char *name = NULL;

    if (read_text(node, "name", &name, failure) < 0)
        return -1;
    if (!name)
        return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG, "has no <name>",
                               "write the name that the guest has for it: "
                               "<name>eth0</name>");
    if (!is_name(name))
        return fail_text(find_child(node, "name"), "name", name,
                         "1 to 15 letters, digits, dots, dashes and underscores",
                         failure);
    for (size_t i = 0; i < network->nic_count; i++) {
        if (!network->nics[i].name || strcmp(network->nics[i].name, name) != 0)
            continue;
        failure_set(failure, FAILURE_NETWORK_CONFIG, "the nic '%s' is there twice", name);
        failure_at_line(failure, xml_line(node));
        return failure_hint(failure, "put all of it into one <%s>", node->name);
    }
    nic->name = steal(name);
    return 0;
}

/* No renderer of cloud-init but netplan's knows of an interface that stays down, and
 * oVirt's engine refuses it, too. */
static int
check_on_boot(const xmlNode *node, struct failure **failure)
{
    cleanup_free char *text = NULL;

    if (read_text(node, "on_boot", &text, failure) < 0)
        return -1;
    if (!text || strcasecmp(text, "true") == 0)
        return 0;
    if (strcasecmp(text, "false") != 0)
        return fail_text(find_child(node, "on_boot"), "on_boot", text, "'true'", failure);
    return vocabulary_fail(find_child(node, "on_boot"), failure, FAILURE_NETWORK_CONFIG,
                           "is 'false', and cloud-init brings up every nic it is told of",
                           "remove the nic from the configuration, or write 'true'");
}

/* The nic is the network's last. */
static int
read_nic(struct network *network, const xmlNode *node, struct failure **failure)
{
    struct nic *nic = &network->nics[network->nic_count - 1];

    if (read_name(network, nic, node, failure) < 0 || check_on_boot(node, failure) < 0 ||
        read_family(network, nic, node, AF_INET, failure) < 0 ||
        read_family(network, nic, node, AF_INET6, failure) < 0)
        return -1;
    if (nic_finish(nic, failure) < 0)
        return failure_at_line(failure, xml_line(node));
    return 0;
}

static int
check_nic(const xmlNode *node, bool deprecated, struct failure **failure)
{
    const char *const today[] = {
        "name", "on_boot", "boot_protocol", "ip", "ipv6_boot_protocol", "ipv6", NULL};
    const char *const before[] = {"name", "on_boot", "boot_protocol", "network", NULL};
    const char *const network[] = {"ip", NULL};
    const xmlNode *below;

    if (check_children(node, deprecated ? before : today, failure) < 0)
        return -1;
    below = find_child(node, "network");
    return below ? check_children(below, network, failure) : 0;
}

static int
read_nics(struct network *network, const xmlNode *parent, bool deprecated,
          struct failure **failure)
{
    if (vocabulary_check_attributes(parent, no_attributes, failure) < 0 ||
        vocabulary_check_no_text(parent, failure) < 0)
        return -1;
    for (const xmlNode *node = xml_first_element(parent); node;
         node = xml_next_element(node)) {
        if (!vocabulary_is(node, deprecated ? "nic" : "nic_configuration"))
            return vocabulary_fail_unknown(parent, node, failure);
        if (check_nic(node, deprecated, failure) < 0)
            return -1;
        if (network->nic_count == LIMIT_NICS)
            return vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                                   "at most 256 nics");
        network->nics =
            xreallocarray(network->nics, network->nic_count + 1, sizeof(*network->nics));
        network->nics[network->nic_count++] = (struct nic){0};
        if (read_nic(network, node, failure) < 0)
            return -1;
    }
    return 0;
}

int
network_read_nic_configurations(struct network *network, const xmlNode *node,
                                struct failure **failure)
{
    const char *const known[] = {"nics", NULL};
    const xmlNode *nics;

    if (!vocabulary_is(node, "network_configuration"))
        return read_nics(network, node, false, failure);
    if (check_children(node, known, failure) < 0)
        return -1;
    nics = find_child(node, "nics");
    return nics ? read_nics(network, nics, true, failure) : 0;
}
