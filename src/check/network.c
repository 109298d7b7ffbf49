/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the guest's network (network-config versions 1 and 2, oVirt's <initialization>)
 * with the domain's interfaces, and reports what has no effect in <initialization>. A NIC
 * of network_data.json that the domain lacks is an error (seed/seed.h). */
#include "config.h"

#include "check/check.h"
#include "domain/address.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

static bool
lacks_mac(const struct check *check, const struct yaml_node *node)
{
    return interface_mac_is_missing(check->domain, node->text);
}

static bool
is_default(const struct check *check, const struct yaml_node *node)
{
    return strcmp(node->text, "default") == 0;
}

/* --- what only some of cloud-init's renderers take --------------------------------- */

static bool
lacks_interfaces(const struct check *check, const struct yaml_node *node)
{
    const struct yaml_node *list = yaml_get(node, "interfaces");

    return !list || !list->items;
}

static bool
lacks_id_or_link(const struct check *check, const struct yaml_node *node)
{
    return !yaml_get(node, "id") || !yaml_get(node, "link");
}

static bool
lacks_match(const struct check *check, const struct yaml_node *node)
{
    return yaml_get(node, "set-name") && !yaml_get(node, "match");
}

static bool
lacks_via(const struct check *check, const struct yaml_node *node)
{
    return yaml_get(node, "to") && !yaml_get(node, "via");
}

static bool
lacks_servers(const struct check *check, const struct yaml_node *node)
{
    const struct yaml_node *addresses = yaml_get(node, "addresses");

    return yaml_get(node, "search") && (!addresses || !addresses->items);
}

static bool
lacks_gateway(const struct check *check, const struct yaml_node *node)
{
    return !yaml_get(node, "gateway");
}

static bool
is_route_without_gateway(const struct check *check, const struct yaml_node *node)
{
    const struct yaml_node *type = yaml_get(node, "type");

    return type && strcmp(type->text, "route") == 0 && !yaml_get(node, "gateway");
}

static bool
is_mapping(const struct check *check, const struct yaml_node *node)
{
    return node->kind == YAML_MAPPING;
}

static bool
is_no_list(const struct check *check, const struct yaml_node *node)
{
    return node->kind != YAML_SEQUENCE;
}

static bool
is_no_mapping(const struct check *check, const struct yaml_node *node)
{
    return node->kind != YAML_MAPPING;
}

/* Return: the address with its prefix or netmask cut off, owned by the caller (free). */
static char *
host_part(const char *text)
{
    return xstrndup(text, strcspn(text, "/"));
}

static bool
is_no_address(const struct check *check, const struct yaml_node *node)
{
    cleanup_free char *host = host_part(node->text);
    struct address address;

    return rule_text(check, node) && !address_parse(&address, host);
}

static bool
lacks_prefix(const struct check *check, const struct yaml_node *node)
{
    struct address address;

    return rule_text(check, node) && !is_no_address(check, node) &&
           !address_parse_with_prefix(&address, node->text);
}

static bool
lacks_name(const struct check *check, const struct yaml_node *node)
{
    static const char *const nameless[] = {"nameserver", "route", NULL};
    const struct yaml_node *type = yaml_get(node, "type");

    return type && !word_is_in(type->text, nameless) && !yaml_get(node, "name");
}

#define ADDRESS_HINT "write an address with its prefix: 192.0.2.10/24"
#define RENDERER_HINT                                                                    \
    "remove it, unless all guests with this document have the renderer that takes it"

/* --- networks of QEMU's own ---------------------------------------------------------- */

/* Return: whether the domain has no other network than QEMU's own (libslirp). One with an
 * <ip>, and passt's, have other addresses. */
static bool
has_user_network_alone(const struct domain *domain)
{
    bool has_one = false;

    xml_foreach(node, xml_child(domain->root, "devices"), "interface") {
        if (!xml_attribute_is(node, "type", "user") || xml_child(node, "ip") ||
            xml_attribute_is(xml_child(node, "backend"), "type", "passt"))
            return false;
        has_one = true;
    }
    return has_one;
}

/* Return: whether QEMU's own network does not know the address, with or without a prefix;
 * its networks are those of "-netdev user" in QEMU's manual. */
static bool
is_outside_user_network(const struct check *check, const char *text)
{
    static const char *const networks[] = {"10.0.2.0/24", "fec0::/64"};
    cleanup_free char *alone = host_part(text);
    struct address address, network;

    if (!address_parse(&address, alone) || !has_user_network_alone(check->domain))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(networks); i++) {
        if (address_parse_with_prefix(&network, networks[i]) &&
            address_covers(&network, &address))
            return false;
    }
    return true;
}

static bool
is_unreachable(const struct check *check, const struct yaml_node *node)
{
    return is_outside_user_network(check, node->text);
}

#define USER_NETWORK                                                                     \
    "is not an address of QEMU's user networking, so the guest reaches nothing"
#define USER_NETWORK_HINT                                                                \
    "use DHCP, or an address in 10.0.2.0/24 with the gateway 10.0.2.2"
#define NIC_HINT "compare it with the <mac> of the domain's interfaces (virsh domiflist)"
#define ROUTE_HINT "write 0.0.0.0/0, or ::/0 for IPv6: every version understands that"
#define GATEWAY_HINT "write routes: [{to: 0.0.0.0/0, via: ADDRESS}], or to: ::/0"

static const struct rule version_2[] = {
    {PATHS("tunnels", "vrfs", "dummy-devices", "virtual-ethernets", "modems",
           "nm-devices", "openvswitch"),
     rule_there, WARNING_NETWORK_RENDERER,
     "is only for guests with netplan: with every other renderer, cloud-init fails and "
     "sets up no interface at all",
     RENDERER_HINT},
    {PATHS("bridges.*", "bonds.*"), lacks_interfaces, WARNING_NETWORK_RENDERER,
     "has no 'interfaces', which only guests with netplan accept: with every other "
     "renderer, cloud-init fails and sets up no interface at all",
     RENDERER_HINT},
    {PATHS("ethernets.*"), lacks_match, WARNING_NETWORK_RENDERER,
     "has 'set-name' without 'match': netplan rejects the whole document",
     "add match: {macaddress: 'MAC'}, or remove 'set-name'"},
    {PATHS("vlans.*"), lacks_id_or_link, WARNING_NETWORK_RENDERER,
     "has no 'id' or no 'link': netplan rejects the whole document, and cloud-init fails "
     "with sysconfig without 'id', with NetworkManager without 'link'",
     "write both"},
    {PATHS("*.*.addresses"), is_mapping, WARNING_NETWORK_RENDERER,
     "is not a list: netplan rejects the whole document",
     "write addresses: [192.0.2.10/24]"},
    {PATHS("*.*.nameservers.addresses", "*.*.nameservers.search"), is_no_list,
     WARNING_NETWORK_RENDERER, "is not a list: netplan rejects the whole document",
     "put it in brackets"},
    {PATHS("*.*.addresses.*"), is_mapping, WARNING_NETWORK_RENDERER,
     "has options, which only netplan knows: with every other renderer, cloud-init from "
     "22.4 on fails and sets up no interface at all",
     ADDRESS_HINT},
    {PATHS("*.*.addresses.*"), is_no_address, WARNING_NETWORK_RENDERER,
     "is not an address: netplan rejects the whole document, and cloud-init from 22.4 on "
     "fails with every other renderer",
     ADDRESS_HINT},
    {PATHS("*.*.addresses.*"), lacks_prefix, WARNING_NETWORK_RENDERER,
     "has no valid prefix length: netplan rejects the whole document", ADDRESS_HINT},
    {PATHS("*.*.nameservers"), is_no_mapping, WARNING_NETWORK_RENDERER,
     "is not a mapping: netplan rejects the whole document, and cloud-init from 22.4 on "
     "fails with every other renderer",
     "write nameservers: {addresses: [ADDRESS]}"},
    {PATHS("*.*.nameservers"), lacks_servers, WARNING_NETWORK_RENDERER,
     "has 'search' without 'addresses', which only guests with netplan use",
     "add the addresses of name servers"},
    {PATHS("*.*.routes.*"), lacks_via, WARNING_NETWORK_RENDERER,
     "has no 'via': with eni and sysconfig, cloud-init fails; netplan needs 'scope: link'",
     "add 'via', the address of the gateway"},
    {PATHS("version", "*.*.mtu", "*.*.id", "*.*.routes.*.metric", "*.*.routes.*.mtu"),
     RULE_NUMBER},
    {PATHS("*.*.match.macaddress", "*.*.macaddress", "*.*.set-name",
           "*.*.access-points.*.password"),
     RULE_TEXT},
    {PATHS("*.*.dhcp4", "*.*.dhcp6", "*.*.accept-ra", "*.*.optional"), RULE_BOOLEAN},
    {PATHS("ethernets.*.match.macaddress"), lacks_mac, WARNING_NIC_MISSING,
     "is not the MAC of any interface of the domain; with 'set-name', the guest's "
     "network would not come up at all",
     NIC_HINT},
    {PATHS("*.*.routes.*.to"), is_default, WARNING_DEFAULT_ROUTE,
     "is 'default', which cloud-init 22.2 to 25.2 only accepts with netplan", ROUTE_HINT},
    {PATHS("*.*.addresses.*"), is_unreachable, WARNING_USER_NETWORK, USER_NETWORK,
     USER_NETWORK_HINT},
    {PATHS("*.*.gateway4", "*.*.gateway6"), rule_there, WARNING_DEPRECATED,
     "is deprecated by netplan", GATEWAY_HINT},
    {.paths = NULL},
};

static const struct rule version_1[] = {
    {PATHS("version", "config.*.mtu"), RULE_NUMBER},
    {PATHS("config.*.name", "config.*.mac_address"), RULE_TEXT},
    {PATHS("config.*"), lacks_name, WARNING_NETWORK_RENDERER,
     "has no 'name', and cloud-init ignores it",
     "write the name that the interface gets: name: eth0"},
    {PATHS("config.*"), is_route_without_gateway, WARNING_NETWORK_RENDERER,
     "is a route without 'gateway': with eni, cloud-init fails", "add it"},
    {PATHS("config.*.subnets.*.address"), is_no_address, WARNING_NETWORK_RENDERER,
     "is not an address: cloud-init from 22.4 on fails with every renderer",
     ADDRESS_HINT},
    {PATHS("config.*.subnets.*.address"), is_unreachable, WARNING_USER_NETWORK,
     USER_NETWORK, USER_NETWORK_HINT},
    {.paths = NULL},
};

static const struct rule version_1_physical[] = {
    {PATHS("mac_address"), lacks_mac, WARNING_NIC_MISSING,
     "is not the MAC of any interface of the domain, so the guest's network would not "
     "come up",
     NIC_HINT},
    {.paths = NULL},
};

static const struct rule network_data[] = {
    {PATHS("networks.*.routes.*"), lacks_gateway, WARNING_NETWORK_RENDERER,
     "has no 'gateway': with eni and sysconfig, cloud-init fails", "add it"},
    {PATHS("networks.*.ip_address"), is_no_address, WARNING_NETWORK_RENDERER,
     "is not an address: cloud-init from 22.4 on fails with every renderer",
     "write an address, such as 192.0.2.10"},
    {.paths = NULL},
};

/* Return: whether a section of version 2 defines the device. */
static bool
is_device(const struct yaml_node *root, const struct yaml_node *name)
{
    yaml_foreach(section, root) {
        if (yaml_get(section->value, name->text))
            return true;
    }
    return false;
}

static void
check_member(const struct check *check, const struct part *part,
             const struct yaml_node *root, const struct yaml_node *name)
{
    if (!name || name->kind != YAML_SCALAR || is_device(root, name))
        return;
    check_warn_of(check, WARNING_NETWORK_RENDERER, part, name->line,
                  "define it, for example below 'ethernets' as {}",
                  ": names a device that the document does not define: netplan "
                  "rejects the whole document, and cloud-init may fail with others");
}

/* What bonds, bridges and VLANs are above. */
static void
check_members(const struct check *check, const struct part *part,
              const struct yaml_node *root)
{
    static const char *const sections[] = {"bonds", "bridges", "vlans"};
    size_t count = 0;

    /* It defines more than devices. */
    if (yaml_get(root, "openvswitch"))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
        const struct yaml_node *section = yaml_get(root, sections[i]);

        yaml_foreach(item, section) {
            const struct yaml_node *list = yaml_get(item->value, "interfaces");

            if (count++ >= LIMIT_NICS)
                return;
            check_member(check, part, root, yaml_get(item->value, "link"));
            for (const struct yaml_item *name = list ? list->items : NULL;
                 name && count < LIMIT_NICS; name = name->next, count++)
                check_member(check, part, root, name->value);
        }
    }
}

/* The name servers of version 1 may be for one interface. */
static void
check_nameservers(const struct check *check, const struct part *part,
                  const struct yaml_node *list)
{
    size_t count = 0;

    yaml_foreach(item, list) {
        const struct yaml_node *name = yaml_get(item->value, "interface");
        const struct yaml_node *type = yaml_get(item->value, "type");
        bool found = false;

        if (!name || !type || strcmp(type->text, "nameserver") != 0)
            continue;
        if (count++ >= LIMIT_NICS)
            return;
        for (const struct yaml_item *nic = list->items; nic && !found; nic = nic->next) {
            const struct yaml_node *other = yaml_get(nic->value, "name");

            found = other && strcmp(other->text, name->text) == 0;
        }
        if (!found)
            check_warn_of(check, WARNING_NETWORK_RENDERER, part, name->line,
                          "write the 'name' of another item, or remove 'interface'",
                          ": name servers for an interface that is not in the "
                          "document: cloud-init from 22.4 on fails with every renderer");
    }
}

static void
check_part_network(const struct check *check, const struct part *part,
                   const struct yaml_node *root)
{
    const struct yaml_node *wrapped = yaml_get(root, "network");
    const struct yaml_node *version, *list;

    if (wrapped)
        root = wrapped;
    version = yaml_get(root, "version");
    if (!version || strcmp(version->text, "1") != 0) {
        rules_apply(check, part, root, version_2);
        check_members(check, part, root);
        return;
    }
    rules_apply(check, part, root, version_1);
    list = yaml_get(root, "config");
    if (!list || list->kind != YAML_SEQUENCE)
        return;
    check_nameservers(check, part, list);
    /* For other types (bonds, bridges) the guest assigns the MAC itself. */
    yaml_foreach(item, list) {
        const struct yaml_node *type = yaml_get(item->value, "type");

        if (type && strcmp(type->text, "physical") == 0)
            rules_apply(check, part, item->value, version_1_physical);
    }
}

static void
check_nic(const struct check *check, const struct nic *nic)
{
    const struct request *request = check->request;
    const char *const gateways[] = {nic->gateway4, nic->gateway6};

    for (size_t i = 0; i < ARRAY_SIZE(gateways); i++) {
        if (gateways[i] && nic_is_outside(nic, gateways[i]))
            check_warn(check, WARNING_GATEWAY_OUTSIDE, request->line,
                       "if that is not so on purpose, give the nic an address in "
                       "the gateway's network, with the right prefix",
                       "the gateway '%s' is not in the network of any of the nic's "
                       "addresses: only guests with %sNetworkManager reach it",
                       gateways[i],
                       request->datasource->has_network_data ? "" : "netplan or ");
    }
    for (size_t i = 0; i < nic->address_count; i++) {
        if (is_outside_user_network(check, nic->addresses[i]))
            check_warn(check, WARNING_USER_NETWORK, request->line, USER_NETWORK_HINT,
                       "'%s' " USER_NETWORK, nic->addresses[i]);
    }
}

/* Return: whether the guest may be one with a cloud-init before 22.4 and without netplan. */
static bool
may_be_old(const struct domain *domain)
{
    static const char *const systems[] = {"/debian/9",  "/debian/10", "/debian/11",
                                          "/rhel/7.",   "/rhel/8",    "/centos/7.",
                                          "/centos/8.", "/rocky/8",   "/almalinux/8"};

    if (!domain_is_os(domain, ""))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
        if (domain_is_os(domain, systems[i]))
            return true;
    }
    return false;
}

/* The generated version 2 finds nics by their MACs (seed/network.c). */
static void
check_match(const struct check *check)
{
    const struct request *request = check->request;
    const struct network *network = request->network;

    if (!network || !network->of_interfaces || network->nic_count == 0 ||
        request->datasource->has_network_data || !may_be_old(check->domain))
        return;
    check_warn(
        check, WARNING_NETWORK_RENDERER, request->line,
        "if the guest is one of these, use datasource=\"configdrive\"",
        "guests with cloud-init before 22.4 and without netplan, such as Debian 11 "
        "and RHEL 8, get no network from this: they do not find nics by their MAC");
}

void
check_network(const struct check *check)
{
    const struct request *request = check->request;
    const struct network *network = request->network;
    const struct part *part = parts_find(&request->parts, PART_NETWORK_CONFIG);
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root = part ? rules_read(&yaml, part) : NULL;

    for (size_t i = 0; network && i < network->nic_count; i++)
        check_nic(check, &network->nics[i]);
    check_match(check);
    if (root && request->datasource->has_network_data)
        rules_apply(check, part, root, network_data);
    else if (root)
        check_part_network(check, part, root);
}

void
check_initialization(const struct check *check)
{
    const struct request *request = check->request;
    const xmlNode *element =
        vocabulary_child(request_find(request->domain), "initialization");

    if (!request->initialization)
        return;
    xml_foreach_element(child, element) {
        const struct vocabulary_element *row = initialization_elements;

        while (row->name && !vocabulary_is(child, row->name))
            row++;
        if (row->flags & VOCABULARY_UNUSED)
            check_warn(
                check, WARNING_WITHOUT_EFFECT, xml_line(element),
                "remove it if the guest runs Linux: only Windows' sysprep uses it",
                "<initialization>: <%s> is for sysprep of Windows and has no effect",
                row->name);
    }
}
