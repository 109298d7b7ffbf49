/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oVirt's nics: domain/network.h, network_nic_configurations_elements and network_set_dns. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/initialization.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "unit.h"

static void
network_free_pointer(struct network **network)
{
    network_free(*network);
}

#define cleanup_network __attribute__((cleanup(network_free_pointer)))

static int
read_element(struct network *network, const char *text, struct failure **failure)
{
    cleanup_free char *xml = xasprintf("<x xmlns='" REQUEST_NAMESPACE "'>%s</x>", text);
    cleanup_xml xmlDoc *doc = unit_parse(xml);

    struct initialization initialization = {.network = network};

    return vocabulary_read_children(xmlDocGetRootElement(doc), initialization_elements,
                                    &initialization, failure);
}

/* Return: the network, owned by the caller (cleanup_network). */
static struct network *
network_of(const char *text)
{
    struct network *network = xcalloc(1, sizeof(*network));
    struct failure *failure = NULL;

    read_element(network, text, &failure);
    assert_no_failure(failure);
    return network;
}

static struct network *
nics_of(const char *nics)
{
    cleanup_free char *text =
        xasprintf("<nic_configurations>%s</nic_configurations>", nics);

    return network_of(text);
}

/* The content of one <nic_configuration> is refused. */
static void
assert_refused(const char *children, enum failure_code code, const char *message)
{
    cleanup_network struct network *network = xcalloc(1, sizeof(*network));
    cleanup_free char *text =
        xasprintf("<nic_configurations><nic_configuration>%s</nic_configuration>"
                  "</nic_configurations>",
                  children);
    struct failure *failure = NULL;

    read_element(network, text, &failure);
    if (failure && !strstr(failure->message, message))
        fail_msg("'%s' is not in '%s'", message, failure->message);
    assert_failure(&failure, code);
}

#define NIC(children) "<nic_configuration>" children "</nic_configuration>"

static void
reads_the_example_of_ovirts_feature_page(void **state)
{
    cleanup_network struct network *network =
        nics_of(NIC("<name>eth0</name><boot_protocol>static</boot_protocol>"
                    "<ip><address>192.168.2.11</address><netmask>255.255.255.0</netmask>"
                    "<gateway>192.168.2.1</gateway></ip>"
                    "<ipv6_boot_protocol>static</ipv6_boot_protocol>"
                    "<ipv6><address>2001::1234</address><netmask>64</netmask>"
                    "<gateway>2001::fffa</gateway></ipv6><on_boot>true</on_boot>")
                    NIC("<name>eth1</name><boot_protocol>dhcp</boot_protocol>"
                        "<ipv6_boot_protocol>none</ipv6_boot_protocol>")
                        NIC("<name>eth2</name><boot_protocol>none</boot_protocol>"
                            "<ipv6_boot_protocol>autoconf</ipv6_boot_protocol>"
                            "<on_boot>true</on_boot>"));
    const struct nic *nics = network->nics;

    (void)state;
    assert_int_equal(network->nic_count, 3);
    assert_string_equal(nics[0].name, "eth0");
    assert_null(nics[0].mac);
    assert_false(nics[0].dhcp4 || nics[0].dhcp6);
    assert_int_equal(nics[0].address_count, 2);
    assert_string_equal(nics[0].addresses[0], "192.168.2.11/24");
    assert_string_equal(nics[0].addresses[1], "2001::1234/64");
    assert_string_equal(nics[0].gateway4, "192.168.2.1");
    assert_string_equal(nics[0].gateway6, "2001::fffa");
    assert_true(nics[1].dhcp4);
    assert_false(nics[1].dhcp6);
    assert_int_equal(nics[1].accept_ra, ACCEPT_RA_UNSAID);
    assert_false(nics[2].dhcp4);
    assert_int_equal(nics[2].accept_ra, ACCEPT_RA_YES);
}

static void
reads_the_shape_of_the_deprecated_type(void **state)
{
    cleanup_network struct network *network = network_of(
        "<network_configuration><nics><nic><name>eth0</name>"
        "<boot_protocol>STATIC</boot_protocol><on_boot>True</on_boot>"
        "<network><ip><address>192.168.100.10</address><netmask>255.255.255.0</netmask>"
        "<gateway>192.168.100.1</gateway></ip></network></nic></nics>"
        "</network_configuration>");

    (void)state;
    assert_int_equal(network->nic_count, 1);
    assert_string_equal(network->nics[0].addresses[0], "192.168.100.10/24");
    assert_string_equal(network->nics[0].gateway4, "192.168.100.1");
}

static void
reads_every_protocol_in_any_case(void **state)
{
    const struct {
        const char *text;
        bool dhcp4, dhcp6;
        enum accept_ra accept_ra;
    } cases[] = {
        {"", false, false, ACCEPT_RA_UNSAID},
        {"<boot_protocol/>", false, false, ACCEPT_RA_UNSAID},
        {"<boot_protocol>NONE</boot_protocol>", false, false, ACCEPT_RA_UNSAID},
        {"<boot_protocol>Dhcp</boot_protocol>", true, false, ACCEPT_RA_UNSAID},
        {"<ipv6_boot_protocol>DHCP</ipv6_boot_protocol>", false, true, ACCEPT_RA_UNSAID},
        {"<ipv6_boot_protocol>poly_dhcp_autoconf</ipv6_boot_protocol>", false, true,
         ACCEPT_RA_YES},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *text = xasprintf(NIC("<name>eth0</name>%s"), cases[i].text);
        cleanup_network struct network *network = nics_of(text);

        assert_int_equal(network->nics[0].dhcp4, cases[i].dhcp4);
        assert_int_equal(network->nics[0].dhcp6, cases[i].dhcp6);
        assert_int_equal(network->nics[0].accept_ra, cases[i].accept_ra);
    }
}

#define STATIC "<name>eth0</name><boot_protocol>static</boot_protocol>"
#define STATIC6 "<name>eth0</name><ipv6_boot_protocol>static</ipv6_boot_protocol>"

static void
takes_a_netmask_or_the_length_of_a_prefix(void **state)
{
    const char *const ips[] = {
        "<ip><address>192.0.2.1</address><netmask>255.255.254.0</netmask></ip>",
        ("<ip><address>192.0.2.1</address><netmask>23</netmask><gateway/>"
         "<version>v4</version></ip>"),
        "<ip><version>V4</version><netmask> 23 </netmask><address>192.0.2.1</address></ip>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(ips); i++) {
        cleanup_free char *text = xasprintf(NIC(STATIC "%s"), ips[i]);
        cleanup_network struct network *network = nics_of(text);

        assert_string_equal(network->nics[0].addresses[0], "192.0.2.1/23");
    }
}

static void
refuses_names_that_are_none(void **state)
{
    (void)state;
    assert_refused("", FAILURE_NETWORK_CONFIG, "has no <name>");
    assert_refused("<name/>", FAILURE_NETWORK_CONFIG, "has no <name>");
    assert_refused("<name>eth 0</name>", FAILURE_NETWORK_CONFIG, "<name> is 'eth 0'");
    assert_refused("<name>eth0:1</name>", FAILURE_NETWORK_CONFIG, "<name> is 'eth0:1'");
    assert_refused("<name>../eth0</name>", FAILURE_NETWORK_CONFIG, "<name> is '../eth0'");
    assert_refused("<name>lo</name>", FAILURE_NETWORK_CONFIG, "<name> is 'lo'");
    assert_refused("<name>a234567890123456</name>", FAILURE_NETWORK_CONFIG,
                   "expected 1 to 15 letters");
    assert_refused("<name>eth0</name><name>eth1</name>", FAILURE_REQUEST, "duplicate ");
}

static void
refuses_a_nic_twice(void **state)
{
    cleanup_network struct network *network = nics_of(NIC("<name>eth0</name>"));
    struct failure *failure = NULL;

    (void)state;
    read_element(network,
                 "<nic_configurations>" NIC("<name>eth0</name>") "</nic_configurations>",
                 &failure);
    assert_string_equal(failure->message, "duplicate nic 'eth0'");
    assert_failure(&failure, FAILURE_NETWORK_CONFIG);
}

static void
refuses_protocols_that_are_none(void **state)
{
    (void)state;
    assert_refused("<name>eth0</name><boot_protocol>bootp</boot_protocol>",
                   FAILURE_NETWORK_CONFIG,
                   "<boot_protocol> is 'bootp', expected 'none', 'dhcp' or 'static'");
    assert_refused("<name>eth0</name><boot_protocol>autoconf</boot_protocol>",
                   FAILURE_NETWORK_CONFIG, "<boot_protocol> is 'autoconf'");
    assert_refused("<name>eth0</name><ipv6_boot_protocol>slaac</ipv6_boot_protocol>",
                   FAILURE_NETWORK_CONFIG, "<ipv6_boot_protocol> is 'slaac'");
}

static void
refuses_a_nic_that_is_to_stay_down(void **state)
{
    (void)state;
    assert_refused("<name>eth0</name><on_boot>false</on_boot>", FAILURE_NETWORK_CONFIG,
                   "<on_boot> is 'false'");
    assert_refused("<name>eth0</name><on_boot>maybe</on_boot>", FAILURE_NETWORK_CONFIG,
                   "<on_boot> is 'maybe', expected 'true'");
}

static void
refuses_addresses_that_are_none(void **state)
{
    (void)state;
    assert_refused(STATIC, FAILURE_NETWORK_CONFIG, "'static' without an <address>");
    assert_refused(STATIC "<ip/>", FAILURE_NETWORK_CONFIG,
                   "'static' without an <address>");
    assert_refused(STATIC6 "<ip><address>192.0.2.1</address></ip>",
                   FAILURE_NETWORK_CONFIG,
                   "<ip> has an <address> or <gateway>, but <boot_protocol> is 'none'");
    assert_refused(STATIC "<ip><address>x</address><netmask>24</netmask></ip>",
                   FAILURE_NETWORK_CONFIG, "<address> is 'x', expected an IPv4 address");
    assert_refused(STATIC "<ip><address>2001::1</address><netmask>64</netmask></ip>",
                   FAILURE_NETWORK_CONFIG, "expected an IPv4 address");
    assert_refused(STATIC6
                   "<ipv6><address>192.0.2.1</address><netmask>24</netmask></ipv6>",
                   FAILURE_NETWORK_CONFIG, "expected an IPv6 address");
    assert_refused(STATIC "<ip><address>192.0.2.1</address></ip>", FAILURE_NETWORK_CONFIG,
                   "has an <address> without <netmask>");
    assert_refused(STATIC "<ip><address>192.0.2.1</address><netmask>255.0.255.0</netmask>"
                          "</ip>",
                   FAILURE_NETWORK_CONFIG, "<netmask> is '255.0.255.0'");
    assert_refused(STATIC6
                   "<ipv6><address>2001::1</address><netmask>129</netmask></ipv6>",
                   FAILURE_NETWORK_CONFIG, "<netmask> is '129'");
    assert_refused(STATIC "<ip><address>192.0.2.1</address><netmask>24</netmask>"
                          "<version>v6</version></ip>",
                   FAILURE_NETWORK_CONFIG, "<version> is 'v6', expected 'v4' in <ip>");
    assert_refused(STATIC "<ip><address>192.0.2.0</address><netmask>24</netmask></ip>",
                   FAILURE_NETWORK_CONFIG, "expected the address of one host");
}

static void
refuses_gateways_that_are_none(void **state)
{
    (void)state;
    assert_refused(STATIC "<ip><address>192.0.2.1</address><netmask>24</netmask>"
                          "<gateway>2001::1</gateway></ip>",
                   FAILURE_NETWORK_CONFIG, "<gateway> is '2001::1', expected an IPv4");
    assert_refused("<name>eth0</name><boot_protocol>dhcp</boot_protocol>"
                   "<ip><gateway>192.0.2.1</gateway></ip>",
                   FAILURE_NETWORK_CONFIG, "but <boot_protocol> is 'dhcp'");
}

static void
refuses_what_has_no_place(void **state)
{
    (void)state;
    assert_refused("eth0", FAILURE_REQUEST, "has text outside its elements");
    assert_refused("<mac/>", FAILURE_REQUEST_UNKNOWN, "unknown element <mac>");
    assert_refused("<name x=''>eth0</name>", FAILURE_REQUEST_UNKNOWN,
                   "unknown attribute");
    assert_refused("<name><b/></name>", FAILURE_REQUEST_UNKNOWN, "expected text");
    assert_refused(STATIC "<ip><dns/></ip>", FAILURE_REQUEST_UNKNOWN,
                   "<ip> has an unknown element <dns>");
    assert_refused("<name>eth0</name><network/>", FAILURE_REQUEST_UNKNOWN,
                   "unknown element <network>");
}

static void
reads_no_more_nics_than_the_limit(void **state)
{
    cleanup_network struct network *network = xcalloc(1, sizeof(*network));
    cleanup_buffer struct buffer text = {0};
    struct failure *failure = NULL;

    (void)state;
    buffer_append_string(&text, "<nic_configurations>");
    for (int i = 0; i <= LIMIT_NICS; i++) {
        cleanup_free char *nic = xasprintf(NIC("<name>e%d</name>"), i);

        buffer_append_string(&text, nic);
    }
    buffer_append_string(&text, "</nic_configurations>");
    read_element(network, text.data, &failure);
    assert_failure(&failure, FAILURE_LIMIT);
}

/* --- dns -------------------------------------------------------------------------- */

static void
every_nic_that_is_used_gets_the_name_servers(void **state)
{
    cleanup_network struct network *network =
        nics_of(NIC("<name>eth0</name>")
                    NIC("<name>eth1</name><boot_protocol>dhcp</boot_protocol>")
                        NIC("<name>eth2</name><ipv6_boot_protocol>autoconf"
                            "</ipv6_boot_protocol>"));
    struct failure *failure = NULL;

    (void)state;
    network_set_dns(network, " 8.8.8.8\n127.0.0.1 ", "qa.lab redhat.com", &failure);
    assert_no_failure(failure);
    assert_int_equal(network->nics[0].nameserver_count, 0);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(network->nics[i].nameserver_count, 2);
        assert_string_equal(network->nics[i].nameservers[1], "127.0.0.1");
        assert_int_equal(network->nics[i].search_count, 2);
        assert_string_equal(network->nics[i].searches[0], "qa.lab");
    }
}

static void
assert_dns_refused(const char *servers, const char *searches, const char *message)
{
    cleanup_network struct network *network =
        nics_of(NIC("<name>eth1</name><boot_protocol>dhcp</boot_protocol>"));
    struct failure *failure = NULL;

    network_set_dns(network, servers, searches, &failure);
    if (failure && !strstr(failure->message, message))
        fail_msg("'%s' is not in '%s'", message, failure->message);
    assert_failure(&failure, FAILURE_NETWORK_CONFIG);
}

static void
refuses_name_servers_that_are_none(void **state)
{
    (void)state;
    assert_dns_refused("8.8.8.8,1.1.1.1", NULL, "<dns_servers> is '8.8.8.8,1.1.1.1'");
    assert_dns_refused("8.8.8.8 8.8.8.8", NULL, "duplicate ");
    assert_dns_refused("8.8.8.8", "-a", "<dns_search> is '-a'");
    assert_dns_refused(NULL, "qa.lab", "without a name server");
}

static void
ignores_name_servers_that_no_nic_would_have(void **state)
{
    cleanup_network struct network *network = nics_of(NIC("<name>eth0</name>"));
    struct failure *failure = NULL;

    (void)state;
    network_set_dns(network, NULL, NULL, &failure);
    assert_no_failure(failure);
    network_set_dns(network, "8.8.8.8", NULL, &failure);
    assert_no_failure(failure);
    assert_int_equal(network->nics[0].nameserver_count, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_example_of_ovirts_feature_page),
        cmocka_unit_test(reads_the_shape_of_the_deprecated_type),
        cmocka_unit_test(reads_every_protocol_in_any_case),
        cmocka_unit_test(takes_a_netmask_or_the_length_of_a_prefix),
        cmocka_unit_test(refuses_names_that_are_none),
        cmocka_unit_test(refuses_a_nic_twice),
        cmocka_unit_test(refuses_protocols_that_are_none),
        cmocka_unit_test(refuses_a_nic_that_is_to_stay_down),
        cmocka_unit_test(refuses_addresses_that_are_none),
        cmocka_unit_test(refuses_gateways_that_are_none),
        cmocka_unit_test(refuses_what_has_no_place),
        cmocka_unit_test(reads_no_more_nics_than_the_limit),
        cmocka_unit_test(every_nic_that_is_used_gets_the_name_servers),
        cmocka_unit_test(refuses_name_servers_that_are_none),
        cmocka_unit_test(ignores_name_servers_that_no_nic_would_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
