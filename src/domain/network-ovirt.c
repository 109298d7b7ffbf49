/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oVirt's <nic_configurations> (type NicConfiguration of its REST API), and the same
 * fields as the deprecated type CloudInit arranges them:
 * <network_configuration><nics><nic>… with <ip> in <network>.
 */
#include "config.h"

#include "domain/initialization.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

static const struct vocabulary_element ip_elements[] = {
    {.name = "address"},
    {.name = "netmask"},
    {.name = "gateway"},
    {.name = "version", .flags = VOCABULARY_KEYWORD},
    {0},
};

static const struct vocabulary_element nic_configuration_elements[] = {
    {.name = "name"},
    {"on_boot", .flags = VOCABULARY_KEYWORD},
    {"boot_protocol", .flags = VOCABULARY_KEYWORD},
    {"ip", .children = ip_elements},
    {"ipv6_boot_protocol", .flags = VOCABULARY_KEYWORD},
    {"ipv6", .children = ip_elements},
    {0},
};

static const struct vocabulary_element network_elements[] = {
    {"ip", .children = ip_elements},
    {0},
};
static const struct vocabulary_element nic_elements[] = {
    {.name = "name"},
    {"on_boot", .flags = VOCABULARY_KEYWORD},
    {"boot_protocol", .flags = VOCABULARY_KEYWORD},
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

static int
add_static(const struct network *network, struct nic *nic, const xmlNode *ip, int family,
           struct failure **failure)
{
    const bool is4 = family == AF_INET;
    const char *expected = is4 ? "an IPv4 address" : "an IPv6 address";
    const char *masks =
        is4 ? "a netmask such as '255.255.255.0' or '24'" : "a prefix length, 0 to 128";
    cleanup_free char *host = vocabulary_child_word(ip, "address");
    cleanup_free char *netmask = vocabulary_child_word(ip, "netmask");
    cleanup_free char *gateway = vocabulary_child_word(ip, "gateway");
    struct address address, other;

    if (!address_parse(&address, host) || address.family != family)
        return fail_text(ip, "address", host, expected, failure);
    if (!netmask)
        return vocabulary_fail(ip, failure, FAILURE_NETWORK_CONFIG,
                               "has an <address> without <netmask>\n"
                               "write <netmask>24</netmask> or "
                               "<netmask>255.255.255.0</netmask>, to match the network");
    if (!address_set_prefix(&address, netmask))
        return fail_text(ip, "netmask", netmask, masks, failure);
    if (nic_add_address(network, nic, "<address>", &address, failure) < 0)
        return failure_at_line(failure, xml_line(ip));
    if (!gateway)
        return 0;
    if (!address_parse(&other, gateway) || other.family != family)
        return fail_text(ip, "gateway", gateway, expected, failure);
    if (nic_set_gateway(nic, "<gateway>", gateway, failure) < 0)
        return failure_at_line(failure, xml_line(ip));
    return 0;
}

static bool
has_word(const xmlNode *parent, const char *name)
{
    cleanup_free char *word = vocabulary_child_word(parent, name);

    return word;
}

/* oVirt's SDKs write protocols in upper or lower case. As in its engine, the default is
 * "none". */
static int
read_family(const struct network *network, struct nic *nic, const xmlNode *node,
            const xmlNode *ip, int family, struct failure **failure)
{
    const bool is4 = family == AF_INET;
    const char *name = is4 ? "boot_protocol" : "ipv6_boot_protocol";
    cleanup_free char *word = vocabulary_child_word(node, name);
    cleanup_free char *version = vocabulary_child_word(ip, "version");
    const bool has_address = has_word(ip, "address");
    const enum protocol last = is4 ? STATIC : POLY_DHCP_AUTOCONF;
    const char *expected = "'none', 'dhcp' or 'static'";
    enum protocol protocol = NONE;

    if (!is4)
        expected = "'none', 'dhcp', 'static', 'autoconf' or 'poly_dhcp_autoconf'";
    while (word && protocol <= last && strcasecmp(word, protocols[protocol]) != 0)
        protocol++;
    if (protocol > last)
        return fail_text(node, name, word, expected, failure);
    if (version && strcasecmp(version, is4 ? "v4" : "v6") != 0)
        return fail_text(ip, "version", version, is4 ? "'v4' in <ip>" : "'v6' in <ipv6>",
                         failure);
    if (protocol == STATIC && !has_address)
        return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG,
                               "has a <%s> 'static' without an <address>\n"
                               "write <%s><address>…</address>…</%s>",
                               name, is4 ? "ip" : "ipv6", is4 ? "ip" : "ipv6");
    if (protocol == STATIC)
        return add_static(network, nic, ip, family, failure);
    /* Otherwise they would be ignored. */
    if (has_address || has_word(ip, "gateway"))
        return failure_set_at(failure, FAILURE_NETWORK_CONFIG, xml_line(ip),
                              "<%s> has an <address> or <gateway>, but <%s> is '%s'\n"
                              "use 'static', or remove them",
                              ip->name, name, protocols[protocol]);
    if (is4) {
        nic->dhcp4 = protocol == DHCP;
        return 0;
    }
    nic->dhcp6 = protocol == DHCP || protocol == POLY_DHCP_AUTOCONF;
    if (protocol == AUTOCONF || protocol == POLY_DHCP_AUTOCONF)
        nic->accept_ra = ACCEPT_RA_YES;
    return 0;
}

static int
set_name(const struct network *network, struct nic *nic, const xmlNode *node,
         struct failure **failure)
{
    cleanup_free char *name = vocabulary_child_word(node, "name");
    /* What netplan, networkd and ifupdown all accept; the kernel allows more. */
    const char *const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._-";
    cleanup_free char *expected = xasprintf(
        "1 to %d letters, digits, dots, dashes and underscores", LIMIT_NIC_NAME);
    bool fits;

    if (!name)
        return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG,
                               "has no <name>\n"
                               "write the guest's name for it: "
                               "<name>eth0</name>");
    fits = strlen(name) <= LIMIT_NIC_NAME && !name[strspn(name, known)];
    if (!fits || strchr("._-", *name) || strcmp(name, "lo") == 0)
        return fail_text(node, "name", name, expected, failure);
    for (size_t i = 0; i < network->nic_count; i++) {
        if (!network->nics[i].name || strcmp(network->nics[i].name, name) != 0)
            continue;
        return failure_set_at(failure, FAILURE_NETWORK_CONFIG, xml_line(node),
                              "duplicate nic '%s'\nmerge them into one <%s>", name,
                              node->name);
    }
    nic->name = steal(name);
    return 0;
}

static int
read_nic(void *data, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = data;
    /* In <nic> of the deprecated type, <ip> is in <network>, and there is no IPv6. */
    const bool deprecated = vocabulary_is(node, "nic");
    const xmlNode *ip =
        vocabulary_child(deprecated ? vocabulary_child(node, "network") : node, "ip");
    cleanup_free char *on_boot = vocabulary_child_word(node, "on_boot");
    struct network *network;
    struct nic *nic;

    if (!initialization->network)
        initialization->network = xcalloc(1, sizeof(*initialization->network));
    network = initialization->network;
    if (network->nic_count == LIMIT_NICS)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "occurs too many times, at most %d nics\n"
                               "write <network-config> as text",
                               LIMIT_NICS);
    nic = array_add(network->nics, network->nic_count);
    if (set_name(network, nic, node, failure) < 0)
        return -1;
    if (on_boot && strcasecmp(on_boot, "false") == 0)
        /* Of cloud-init's renderers only netplan's can keep an interface down. oVirt's
         * engine rejects it, too. */
        return vocabulary_fail(
            vocabulary_child(node, "on_boot"), failure, FAILURE_NETWORK_CONFIG,
            "is 'false', but cloud-init brings up every nic that is configured\n"
            "remove the nic from the configuration, or write 'true'");
    if (on_boot && strcasecmp(on_boot, "true") != 0)
        return fail_text(node, "on_boot", on_boot, "'true'", failure);
    if (read_family(network, nic, node, ip, AF_INET, failure) < 0 ||
        read_family(network, nic, node, vocabulary_child(node, "ipv6"), AF_INET6,
                    failure) < 0)
        return -1;
    return nic_finish(nic, failure);
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
