/* SPDX-License-Identifier: GPL-2.0-or-later */
/* <network-config from="interfaces">, and the domain's interfaces: domain/network.h,
 * domain/interface.c. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "unit.h"

#define LAN "<interface type='network'><mac address='52:54:00:AA:00:01'/></interface>"
#define WAN                                                                              \
    "<interface type='bridge'><mac address='52:54:00:aa:00:02'/><model type='virtio'/>"  \
    "<alias name='ua-wan'/></interface>"

/* Reads a request for the domain with those devices; `children` are the content of
 * <network-config>. */
static int
read_network(struct unit_domain *unit, const char *devices, const char *children,
             struct failure **failure)
{
    cleanup_free char *xml =
        xasprintf("<domain type='kvm'><name>web1</name><uuid>" UNIT_UUID "</uuid>"
                  "<metadata><cloud-init xmlns='" REQUEST_NAMESPACE "'>"
                  "<network-config from='interfaces'>%s</network-config></cloud-init>"
                  "</metadata><devices>%s</devices></domain>",
                  children, devices);

    unit_domain_read(unit, xml);
    return request_read(&unit->request, &unit->domain, failure);
}

static const struct network *
network_of(struct unit_domain *unit, const char *devices, const char *children)
{
    struct failure *failure = NULL;

    read_network(unit, devices, children, &failure);
    assert_no_failure(failure);
    return unit->request.network;
}

static void
assert_refused(const char *devices, const char *children, enum failure_code code,
               const char *message)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    read_network(&unit, devices, children, &failure);
    if (failure && !strstr(failure->message, message))
        fail_msg("'%s' is not in '%s'", message, failure->message);
    assert_failure(&failure, code);
}

/* The same, for the content of LAN's <interface>. */
static void
assert_nic_refused(const char *attributes, const char *children, enum failure_code code,
                   const char *message)
{
    cleanup_free char *interface = xasprintf(
        "<interface mac='52:54:00:aa:00:01' %s>%s</interface>", attributes, children);

    assert_refused(LAN, interface, code, message);
}

static const struct nic *
nic_of(struct unit_domain *unit, const char *attributes, const char *children)
{
    cleanup_free char *interface = xasprintf(
        "<interface mac='52:54:00:aa:00:01' %s>%s</interface>", attributes, children);

    return &network_of(unit, LAN, interface)->nics[0];
}

/* --- the domain's interfaces ------------------------------------------------------ */

static void
every_interface_has_dhcp_where_nothing_is_said(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct network *network = network_of(&unit, WAN LAN, "");

    (void)state;
    assert_int_equal(network->nic_count, 2);
    assert_string_equal(network->nics[0].mac, "52:54:00:aa:00:02");
    assert_string_equal(network->nics[1].mac, "52:54:00:aa:00:01");
    for (size_t i = 0; i < 2; i++) {
        assert_true(network->nics[i].dhcp4);
        assert_false(network->nics[i].dhcp6);
        assert_false(network->nics[i].optional);
        assert_int_equal(network->nics[i].accept_ra, ACCEPT_RA_UNSAID);
        assert_int_equal(network->nics[i].mtu, 0);
        assert_null(network->nics[i].name);
    }
}

static void
reads_what_an_interface_is(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_free char *pci = NULL;
    struct failure *failure = NULL;

    (void)state;
    network_of(
        &unit,
        "<interface type='bridge'><mac address='52:54:0:A:0:2'/><model type='virtio'/>"
        "<alias name='ua-wan'/><address type='pci' domain='0x0000' bus='0x0a' "
        "slot='0x1f' function='0x7'/></interface>" LAN,
        "");
    interfaces_read(&interfaces, &unit.domain, &failure);
    assert_no_failure(failure);
    assert_string_equal(interfaces.items[0].mac, "52:54:00:0a:00:02");
    assert_string_equal(interfaces.items[0].type, "bridge");
    assert_string_equal(interfaces.items[0].alias, "ua-wan");
    pci = device_pci_address(interfaces.items[0].node);
    assert_string_equal(pci, "0000:0a:1f.7");
    assert_null(interfaces.items[1].alias);
    assert_null(device_pci_address(interfaces.items[1].node));
}

static void
knows_no_pci_address_that_is_none(void **state)
{
    const char *const addresses[] = {
        "<address type='pci'/>",
        "<address type='usb' bus='0' port='1'/>",
        "<address type='pci' slot='0x20'/>",
        "<address type='pci' slot='x'/>",
        "<address type='pci' slot='-1'/>",
        "<address type='pci' slot='0x1' function='8'/>",
        "<address type='pci' slot='0x1' bus='256'/>",
        "<address type='pci' slot='0x1' domain='99999999999999999999'/>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        cleanup_free char *device = xasprintf("<hostdev>%s</hostdev>", addresses[i]);
        cleanup_xml xmlDoc *doc = unit_parse(device);

        assert_null(device_pci_address(xmlDocGetRootElement(doc)));
    }
}

static void
refuses_macs_that_are_none(void **state)
{
    const char *const macs[] = {"",
                                "52:54:00:aa:00",
                                "52:54:00:aa:00:01:02",
                                "52:54:00:aa:00:001",
                                "52-54-00-aa-00-01",
                                "52:54:00:aa:00:0g",
                                "52:54::aa:00:01",
                                " 52:54:00:aa:00:01"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(macs); i++)
        assert_null(interface_normalize_mac(macs[i]));
}

static void
refuses_a_domain_whose_nics_the_guest_could_not_tell(void **state)
{
    (void)state;
    assert_refused("", "", FAILURE_NETWORK_CONFIG, "the domain has no <interface>");
    assert_refused(LAN "<interface/>", "", FAILURE_NETWORK_CONFIG,
                   "<interface> 2 has no valid <mac");
    assert_refused("<interface><mac address='x'/><alias name='ua-lan'/></interface>", "",
                   FAILURE_NETWORK_CONFIG, "<interface> 1 (ua-lan) has no valid <mac");
    assert_refused(LAN WAN LAN, "", FAILURE_NETWORK_CONFIG,
                   "<interface> 3 has the MAC '52:54:00:aa:00:01' of <interface> 1");
}

static void
reads_no_more_interfaces_than_the_limit(void **state)
{
    cleanup_buffer struct buffer devices = {0};

    (void)state;
    for (int i = 0; i <= LIMIT_NICS; i++)
        buffer_append_string(&devices, "<interface/>");
    assert_refused(devices.data, "", FAILURE_LIMIT, "257 interfaces");
}

/* --- which interface -------------------------------------------------------------- */

static void
finds_an_interface_by_mac_or_alias(void **state)
{
    const char *const names[] = {"mac='52:54:00:AA:00:02'", "mac='52:54:0:aa:0:2'",
                                 "alias='ua-wan'", "alias='wan'"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_free char *text = xasprintf("<interface %s mtu='9000'/>", names[i]);
        const struct network *network = network_of(&unit, LAN WAN, text);

        assert_int_equal(network->nics[0].mtu, 0);
        assert_int_equal(network->nics[1].mtu, 9000);
    }
}

static void
refuses_an_interface_that_the_domain_lacks(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    (void)state;
    assert_refused(LAN, "<interface alias='wan'/>", FAILURE_NETWORK_CONFIG,
                   "has alias=\"wan\", but the domain has no such interface");
    read_network(&unit, LAN WAN, "<interface mac='52:54:00:aa:00:03'/>", &failure);
    assert_string_equal(failure->hint,
                        "use one of the domain's interfaces: 52:54:00:aa:00:01, "
                        "52:54:00:aa:00:02 (ua-wan)");
    assert_failure(&failure, FAILURE_NETWORK_CONFIG);
}

static void
refuses_an_interface_that_is_not_named_once(void **state)
{
    (void)state;
    assert_refused(LAN, "<interface/>", FAILURE_REQUEST, "has neither mac= nor alias=");
    assert_refused(WAN, "<interface mac='52:54:00:aa:00:02' alias='wan'/>",
                   FAILURE_REQUEST, "has both mac= and alias=");
    assert_refused(WAN, "<interface mac='52:54:00:aa:00:02'/><interface alias='wan'/>",
                   FAILURE_NETWORK_CONFIG, "names the same interface");
    assert_refused(LAN, "<interface mac=''/>", FAILURE_REQUEST, "mac=\"\"");
    assert_refused(LAN, "<interface alias=''/>", FAILURE_NETWORK_CONFIG, "alias=\"\"");
}

static void
refuses_what_has_no_place(void **state)
{
    (void)state;
    assert_refused(LAN, "dhcp", FAILURE_REQUEST, "has text outside its elements");
    assert_refused(LAN, "<nic/>", FAILURE_REQUEST_UNKNOWN, "unknown element <nic>");
    assert_nic_refused("name='eth0'", "", FAILURE_REQUEST_UNKNOWN,
                       "unknown attribute 'name'");
    assert_nic_refused("", "dhcp", FAILURE_REQUEST, "has text outside its elements");
    assert_nic_refused("", "<dns>192.0.2.1</dns>", FAILURE_REQUEST_UNKNOWN,
                       "unknown element <dns>");
    assert_nic_refused("", "<address prefix='24'>192.0.2.1</address>",
                       FAILURE_REQUEST_UNKNOWN, "unknown attribute 'prefix'");
    assert_nic_refused("", "<address><ip/></address>", FAILURE_REQUEST_UNKNOWN,
                       "expected text");
}

/* --- addresses -------------------------------------------------------------------- */

static void
an_address_switches_dhcp_of_ipv4_off(void **state)
{
    const struct {
        const char *attributes;
        const char *children;
        bool dhcp4;
    } cases[] = {
        {"", "<address>192.0.2.10/24</address>", false},
        {"dhcp4='yes'", "<address>192.0.2.10/24</address>", true},
        {"", "<address>2001:db8::10/64</address>", true},
        {"dhcp4='no'", "", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};

        assert_int_equal(nic_of(&unit, cases[i].attributes, cases[i].children)->dhcp4,
                         cases[i].dhcp4);
    }
}

static void
an_address_of_ipv6_switches_autoconfiguration_off(void **state)
{
    const struct {
        const char *attributes;
        enum accept_ra accept_ra;
    } cases[] = {
        {"", ACCEPT_RA_NO},
        {"dhcp6='yes'", ACCEPT_RA_UNSAID},
        {"accept-ra='yes'", ACCEPT_RA_YES},
        {"accept-ra='no'", ACCEPT_RA_NO},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};

        assert_int_equal(
            nic_of(&unit, cases[i].attributes, "<address>2001:db8::10/64</address>")
                ->accept_ra,
            cases[i].accept_ra);
    }
}

static void
reads_everything_of_a_nic(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct nic *nic =
        nic_of(&unit, "dhcp4='yes' dhcp6='yes' accept-ra='yes' optional='yes' mtu='1500'",
               "<address> 192.0.2.10/24\n</address><address>2001:DB8:0::10/64</address>"
               "<gateway>192.0.2.1</gateway><gateway>FE80::1</gateway>"
               "<nameserver>192.0.2.53</nameserver><nameserver>2001:db8::53</nameserver>"
               "<search>example.org</search><search>lab</search>"
               "<route to='198.51.100.0/24' via='192.0.2.254' metric='7'/>"
               "<route to='2001:db8:1::/48' via='2001:db8::fe'/>");

    (void)state;
    assert_true(nic->dhcp4 && nic->dhcp6 && nic->optional);
    assert_int_equal(nic->accept_ra, ACCEPT_RA_YES);
    assert_int_equal(nic->mtu, 1500);
    assert_int_equal(nic->address_count, 2);
    assert_string_equal(nic->addresses[0], "192.0.2.10/24");
    assert_string_equal(nic->addresses[1], "2001:db8::10/64");
    assert_string_equal(nic->gateway4, "192.0.2.1");
    assert_string_equal(nic->gateway6, "fe80::1");
    assert_int_equal(nic->nameserver_count, 2);
    assert_string_equal(nic->nameservers[1], "2001:db8::53");
    assert_int_equal(nic->search_count, 2);
    assert_string_equal(nic->searches[1], "lab");
    assert_int_equal(nic->route_count, 2);
    assert_string_equal(nic->routes[0].to, "198.51.100.0/24");
    assert_int_equal(nic->routes[0].metric, 7);
    assert_string_equal(nic->routes[1].via, "2001:db8::fe");
    assert_int_equal(nic->routes[1].metric, -1);
}

static void
refuses_addresses_that_are_none(void **state)
{
    const char *const texts[] = {"",     "192.0.2.10",  "192.0.2.10/33",  "192.0.2.0/24",
                                 "dhcp", "127.0.0.1/8", "fe80::1%eth0/64"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        cleanup_free char *address = xasprintf("<address>%s</address>", texts[i]);
        cleanup_free char *message = xasprintf("<address> is '%s', expected", texts[i]);

        assert_nic_refused("", address, FAILURE_NETWORK_CONFIG, message);
    }
}

static void
refuses_an_address_twice(void **state)
{
    (void)state;
    assert_nic_refused("",
                       "<address>192.0.2.1/24</address><address>192.0.2.1/25</address>",
                       FAILURE_NETWORK_CONFIG, "duplicate <address> '192.0.2.1'");
    assert_refused(
        LAN WAN,
        "<interface alias='wan'><address>2001:db8::1/64</address></interface>"
        "<interface mac='52:54:00:aa:00:01'><address>2001:db8:0::1/64</address>"
        "</interface>",
        FAILURE_NETWORK_CONFIG, "duplicate <address> '2001:db8::1'");
}

static void
refuses_attributes_of_the_wrong_kind(void **state)
{
    const char *const attributes[] = {
        "dhcp4='true'", "dhcp6=''",    "accept-ra='1'", "optional='on'", "mtu=''",
        "mtu='67'",     "mtu='65536'", "mtu='x'",       "mtu='-1500'",   "mtu='1500 '",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
        assert_nic_refused(attributes[i], "", FAILURE_REQUEST, "<interface> has ");
}

static void
refuses_an_mtu_that_ipv6_cannot_live_with(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    nic_of(&unit, "mtu='1279'", "");
    assert_nic_refused("mtu='1279' dhcp6='yes'", "", FAILURE_NETWORK_CONFIG,
                       "too small for IPv6");
    assert_nic_refused("mtu='68'", "<address>2001:db8::1/64</address>",
                       FAILURE_NETWORK_CONFIG, "expected at least 1280");
}

/* --- gateways and routes ---------------------------------------------------------- */

#define V4 "<address>192.0.2.10/24</address>"
#define V6 "<address>2001:db8::10/64</address>"

static void
refuses_gateways_out_of_reach(void **state)
{
    (void)state;
    assert_nic_refused("", "<gateway>192.0.2.1</gateway>", FAILURE_NETWORK_CONFIG,
                       "not in the network of any of the nic's addresses");
    assert_nic_refused("", V4 "<gateway>2001:db8::1</gateway>", FAILURE_NETWORK_CONFIG,
                       "not in the network");
    assert_nic_refused("", V4 "<gateway>fe80::1</gateway>", FAILURE_NETWORK_CONFIG,
                       "not in the network");
    assert_nic_refused("", V4 "<gateway>192.0.2.10</gateway>", FAILURE_NETWORK_CONFIG,
                       "expected another address than the nic's own");
    assert_nic_refused("", V4 "<route to='10.0.0.0/8' via='192.0.3.1'/>",
                       FAILURE_NETWORK_CONFIG, "via= of <route> is '192.0.3.1'");
}

static void
takes_gateways_within_reach(void **state)
{
    const char *const children[] = {
        V4 "<gateway>192.0.2.1</gateway>",
        V4 "<gateway>192.0.3.1</gateway>",
        V6 "<gateway>fe80::1</gateway>",
        V6 "<gateway>2001:db8::1</gateway>",
        "<route to='10.0.0.0/8' via='192.0.2.1'/>",
        V4 V6 "<gateway>192.0.2.1</gateway><gateway>fe80::1</gateway>",
        V4
        "<gateway>192.0.2.1</gateway><route to='0.0.0.0/0' via='192.0.2.2' metric='9'/>",
        V6 "<route to='::/0' via='fe80::1'/>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(children); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};

        nic_of(&unit, "", children[i]);
    }
}

static void
refuses_a_gateway_twice_or_of_no_host(void **state)
{
    (void)state;
    assert_nic_refused("", V4 "<gateway>192.0.2.1</gateway><gateway>192.0.2.2</gateway>",
                       FAILURE_NETWORK_CONFIG,
                       "<gateway> is '192.0.2.2', but the nic already has '192.0.2.1'");
    assert_nic_refused("", V4 "<gateway/>", FAILURE_NETWORK_CONFIG, "<gateway> is ''");
    assert_nic_refused("", V4 "<gateway>192.0.2.1/24</gateway>", FAILURE_NETWORK_CONFIG,
                       "expected the address of one host");
    assert_nic_refused("", V4 "<gateway>0.0.0.0</gateway>", FAILURE_NETWORK_CONFIG,
                       "expected the address of one host");
}

static void
refuses_routes_that_are_none(void **state)
{
    const struct {
        const char *route;
        enum failure_code code;
        const char *message;
    } cases[] = {
        {"<route/>", FAILURE_REQUEST, "needs both to= and via="},
        {"<route to='10.0.0.0/8'/>", FAILURE_REQUEST, "needs both to= and via="},
        {"<route to='default' via='192.0.2.1'/>", FAILURE_NETWORK_CONFIG,
         "to= of <route> is 'default', expected a network"},
        {"<route to='10.0.0.0' via='192.0.2.1'/>", FAILURE_NETWORK_CONFIG,
         "expected a network"},
        {"<route to='10.1.0.0/8' via='192.0.2.1'/>", FAILURE_NETWORK_CONFIG,
         "expected the network itself, '10.0.0.0/8'"},
        {"<route to='10.0.0.0/8' via='2001:db8::1'/>", FAILURE_NETWORK_CONFIG,
         "expected the IPv4 address of a gateway"},
        {"<route to='2001:db8:1::/48' via='192.0.2.1'/>", FAILURE_NETWORK_CONFIG,
         "expected the IPv6 address of a gateway"},
        {"<route to='10.0.0.0/8' via='x'/>", FAILURE_NETWORK_CONFIG, "via= of <route>"},
        {"<route to='10.0.0.0/8' via='192.0.2.1' metric='0'/>", FAILURE_REQUEST,
         "metric=\"0\""},
        {"<route to='10.0.0.0/8' via='192.0.2.1' metric='4294967296'/>", FAILURE_REQUEST,
         "metric=\"4294967296\""},
        {"<route to='10.0.0.0/8' via='192.0.2.1' dev='eth0'/>", FAILURE_REQUEST_UNKNOWN,
         "unknown attribute 'dev'"},
        {"<route to='10.0.0.0/8' via='192.0.2.1'>x</route>", FAILURE_REQUEST, "has text"},
        {"<route to='10.0.0.0/8' via='192.0.2.1'/><route to='10.0.0.0/8' via='192.0.2.2'/>",
         FAILURE_NETWORK_CONFIG, "duplicate <route> to '10.0.0.0/8'"},
        {"<gateway>192.0.2.1</gateway><route to='0.0.0.0/0' via='192.0.2.1'/>",
         FAILURE_NETWORK_CONFIG, "duplicate default route '0.0.0.0/0'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *children = xasprintf(V4 "%s", cases[i].route);

        assert_nic_refused("", children, cases[i].code, cases[i].message);
    }
}

/* --- name servers ----------------------------------------------------------------- */

static void
refuses_name_servers_and_domains_that_are_none(void **state)
{
    (void)state;
    assert_nic_refused("", "<nameserver/>", FAILURE_NETWORK_CONFIG, "<nameserver> is ''");
    assert_nic_refused("", "<nameserver>dns.example.org</nameserver>",
                       FAILURE_NETWORK_CONFIG,
                       "expected the IPv4 or IPv6 address of a server");
    assert_nic_refused("", "<nameserver>192.0.2.1 192.0.2.2</nameserver>",
                       FAILURE_NETWORK_CONFIG,
                       "expected the IPv4 or IPv6 address of a server");
    assert_nic_refused("", "<nameserver>::1</nameserver><nameserver>0::1</nameserver>",
                       FAILURE_NETWORK_CONFIG, "duplicate <nameserver> '::1'");
    assert_nic_refused("", "<nameserver>::1</nameserver><search/>",
                       FAILURE_NETWORK_CONFIG, "<search> is ''");
    assert_nic_refused("", "<nameserver>::1</nameserver><search>a b</search>",
                       FAILURE_NETWORK_CONFIG,
                       "<search> is 'a b', expected a domain's name");
    assert_nic_refused("",
                       "<nameserver>::1</nameserver><search>a</search><search>a</search>",
                       FAILURE_NETWORK_CONFIG, "duplicate <search> 'a'");
    assert_nic_refused("", "<search>example.org</search>", FAILURE_NETWORK_CONFIG,
                       "without a name server");
}

/* Repeats the element, whose '#' becomes a number, as often as the limit allows, and then
 * once more. */
static void
assert_limited(const char *element, int limit)
{
    cleanup_buffer struct buffer children = {0};
    cleanup_unit_domain struct unit_domain unit = {0};
    const char *mark = strchr(element, '#');

    buffer_append_string(&children, V4 "<nameserver>192.0.2.53</nameserver>");
    for (int i = 1; i <= limit + 1; i++) {
        cleanup_free char *text =
            xasprintf("%.*s%d%s", (int)(mark - element), element, i, mark + 1);

        if (i > limit)
            nic_of(&unit, "", children.data);
        buffer_append_string(&children, text);
    }
    assert_nic_refused("", children.data, FAILURE_LIMIT, "too many ");
}

static void
takes_no_more_than_the_limits(void **state)
{
    (void)state;
    assert_limited("<address>10.0.0.#/24</address>", LIMIT_NIC_ADDRESSES - 1);
    assert_limited("<nameserver>10.0.0.#</nameserver>", LIMIT_NIC_NAMESERVERS - 1);
    assert_limited("<search>a#</search>", LIMIT_NIC_SEARCHES);
    assert_limited("<route to='10.0.0.0/8' via='192.0.2.1' metric='#'/>",
                   LIMIT_NIC_ROUTES);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_interface_has_dhcp_where_nothing_is_said),
        cmocka_unit_test(reads_what_an_interface_is),
        cmocka_unit_test(knows_no_pci_address_that_is_none),
        cmocka_unit_test(refuses_macs_that_are_none),
        cmocka_unit_test(refuses_a_domain_whose_nics_the_guest_could_not_tell),
        cmocka_unit_test(reads_no_more_interfaces_than_the_limit),
        cmocka_unit_test(finds_an_interface_by_mac_or_alias),
        cmocka_unit_test(refuses_an_interface_that_the_domain_lacks),
        cmocka_unit_test(refuses_an_interface_that_is_not_named_once),
        cmocka_unit_test(refuses_what_has_no_place),
        cmocka_unit_test(an_address_switches_dhcp_of_ipv4_off),
        cmocka_unit_test(an_address_of_ipv6_switches_autoconfiguration_off),
        cmocka_unit_test(reads_everything_of_a_nic),
        cmocka_unit_test(refuses_addresses_that_are_none),
        cmocka_unit_test(refuses_an_address_twice),
        cmocka_unit_test(refuses_attributes_of_the_wrong_kind),
        cmocka_unit_test(refuses_an_mtu_that_ipv6_cannot_live_with),
        cmocka_unit_test(refuses_gateways_out_of_reach),
        cmocka_unit_test(takes_gateways_within_reach),
        cmocka_unit_test(refuses_a_gateway_twice_or_of_no_host),
        cmocka_unit_test(refuses_routes_that_are_none),
        cmocka_unit_test(refuses_name_servers_and_domains_that_are_none),
        cmocka_unit_test(takes_no_more_than_the_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
