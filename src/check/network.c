/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the guest's network (network-config versions 1 and 2, oVirt's <initialization>)
 * with the domain's interfaces, and reports what has no effect in <initialization>. A NIC
 * of network_data.json that the domain lacks is an error (seed/seed.h). */
#include "config.h"

#include <string.h>

#include "base/memory.h"
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
    cleanup_free char *alone = xstrndup(text, strcspn(text, "/"));
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
    {{"version", "*.*.mtu", "*.*.id", "*.*.routes.*.metric", "*.*.routes.*.mtu"},
     RULE_NUMBER},
    {{"*.*.match.macaddress", "*.*.macaddress", "*.*.set-name",
      "*.*.access-points.*.password"},
     RULE_TEXT},
    {{"*.*.dhcp4", "*.*.dhcp6", "*.*.accept-ra", "*.*.optional"}, RULE_BOOLEAN},
    {{"ethernets.*.match.macaddress"},
     lacks_mac,
     WARNING_NIC_MISSING,
     "is not the MAC of any interface of the domain; with 'set-name', the guest's "
     "network would not come up at all",
     NIC_HINT},
    {{"*.*.routes.*.to"},
     is_default,
     WARNING_DEFAULT_ROUTE,
     "is 'default', which cloud-init before 25.3 does not accept",
     ROUTE_HINT},
    {{"*.*.addresses.*"},
     is_unreachable,
     WARNING_USER_NETWORK,
     USER_NETWORK,
     USER_NETWORK_HINT},
    {{"*.*.gateway4", "*.*.gateway6"},
     rule_there,
     WARNING_DEPRECATED,
     "is deprecated by netplan",
     GATEWAY_HINT},
    {.paths = {NULL}},
};

static const struct rule version_1[] = {
    {{"version", "config.*.mtu"}, RULE_NUMBER},
    {{"config.*.name", "config.*.mac_address"}, RULE_TEXT},
    {{"config.*.subnets.*.address"},
     is_unreachable,
     WARNING_USER_NETWORK,
     USER_NETWORK,
     USER_NETWORK_HINT},
    {.paths = {NULL}},
};

static const struct rule version_1_physical[] = {
    {{"mac_address"},
     lacks_mac,
     WARNING_NIC_MISSING,
     "is not the MAC of any interface of the domain, so the guest's network would not "
     "come up",
     NIC_HINT},
    {.paths = {NULL}},
};

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
        return;
    }
    rules_apply(check, part, root, version_1);
    list = yaml_get(root, "config");
    if (!list || list->kind != YAML_SEQUENCE)
        return;
    /* For other types (bonds, bridges) the guest assigns the MAC itself. */
    for (const struct yaml_item *item = list->items; item; item = item->next) {
        const struct yaml_node *type = yaml_get(item->value, "type");

        if (type && strcmp(type->text, "physical") == 0)
            rules_apply(check, part, item->value, version_1_physical);
    }
}

static void
check_gateways(const struct check *check)
{
    const struct request *request = check->request;
    const struct network *network = request->network;

    for (size_t i = 0; network && i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];
        const char *const gateways[] = {nic->gateway4, nic->gateway6};

        for (size_t j = 0; j < ARRAY_SIZE(gateways); j++) {
            if (gateways[j] && nic_is_outside(nic, gateways[j]))
                check_warn(check, WARNING_GATEWAY_OUTSIDE, request->line,
                           "if that is not so on purpose, give the nic an address in "
                           "the gateway's network, with the right prefix",
                           "the gateway '%s' is not in the network of any of the nic's "
                           "addresses: only guests with %sNetworkManager reach it",
                           gateways[j],
                           request->datasource->has_network_data ? "" : "netplan or ");
        }
    }
}

static void
check_addresses(const struct check *check)
{
    const struct request *request = check->request;
    const struct network *network = request->network;

    for (size_t i = 0; network && i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];

        for (size_t j = 0; j < nic->address_count; j++) {
            if (is_outside_user_network(check, nic->addresses[j]))
                check_warn(check, WARNING_USER_NETWORK, request->line, USER_NETWORK_HINT,
                           "'%s' " USER_NETWORK, nic->addresses[j]);
        }
    }
}

void
check_network(const struct check *check)
{
    const struct request *request = check->request;
    const struct part *part = parts_find(&request->parts, PART_NETWORK_CONFIG);
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root =
        part && !request->datasource->has_network_data ? rules_read(&yaml, part) : NULL;

    check_gateways(check);
    check_addresses(check);
    if (root)
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
