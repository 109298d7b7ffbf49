/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network in each of a seed's forms: one that is described, and the user's own. */
#include "config.h"

#include <string.h>

#include <jansson.h>

#include "base/json.h"
#include "base/memory.h"
#include "seed/content.h"
#include "seed/writers.h"
#include "unit.h"

/* Return: the nic as text without white space, owned by the caller (free). */
static char *
compact(const struct buffer *buffer)
{
    cleanup_json json_t *json = json_loads(buffer->data, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(json);
    return json_dumps(json, JSON_COMPACT);
}

static void
assert_json(network_writer *write, const struct nic *nic, const char *expected)
{
    struct network network = {.nics = (struct nic *)nic, .nic_count = 1};
    cleanup_buffer struct buffer buffer = {0};
    cleanup_free char *text = NULL;
    struct failure *failure = NULL;

    write(&buffer, &network, &failure);
    assert_no_failure(failure);
    text = compact(&buffer);
    assert_string_equal(text, expected);
}

static void
assert_refused(network_writer *write, const struct nic *nic, const char *message)
{
    struct network network = {.nics = (struct nic *)nic, .nic_count = 1};
    cleanup_buffer struct buffer buffer = {0};
    struct failure *failure = NULL;

    write(&buffer, &network, &failure);
    if (failure && !strstr(failure->message, message))
        fail_msg("'%s' is not in '%s'", message, failure->message);
    assert_failure(&failure, FAILURE_NETWORK_CONFIG);
}

/* --- nics ------------------------------------------------------------------------- */

#define MAC "52:54:00:aa:00:01"
/* Text that is not constant, as struct nic has it. */
#define TEXT(text) ((char[]){text})

static char *addresses[] = {TEXT("192.0.2.10/24"), TEXT("2001:db8::10/64"),
                            TEXT("192.0.2.11/25")};
static char *nameservers[] = {TEXT("192.0.2.53"), TEXT("2001:db8::53")};
static char *searches[] = {TEXT("example.org")};
static struct route routes[] = {
    {.to = TEXT("198.51.100.0/24"), .via = TEXT("192.0.2.254"), .metric = 50},
    {.to = TEXT("2001:db8:1::/48"), .via = TEXT("2001:db8::fe"), .metric = -1},
};

static const struct nic dhcp = {.mac = TEXT(MAC), .dhcp4 = true};
static const struct nic named = {.name = TEXT("eth0"), .dhcp4 = true};
static const struct nic nothing = {.mac = TEXT(MAC)};
static const struct nic automatic = {.mac = TEXT(MAC), .accept_ra = ACCEPT_RA_YES};
static const struct nic everything = {
    .mac = TEXT(MAC),
    .accept_ra = ACCEPT_RA_NO,
    .mtu = 1500,
    .addresses = addresses,
    .address_count = ARRAY_SIZE(addresses),
    .gateway4 = TEXT("192.0.2.1"),
    .gateway6 = TEXT("fe80::1"),
    .nameservers = nameservers,
    .nameserver_count = ARRAY_SIZE(nameservers),
    .searches = searches,
    .search_count = ARRAY_SIZE(searches),
    .routes = routes,
    .route_count = ARRAY_SIZE(routes),
};

/* --- version 2 -------------------------------------------------------------------- */

#define V2(nic) "{\"version\":2,\"ethernets\":{" nic "}}"
#define MATCH "\"match\":{\"macaddress\":\"" MAC "\"}"

static void
v2_has_dhcp(void **state)
{
    (void)state;
    assert_json(network_write_v2, &dhcp,
                V2("\"nic0\":{" MATCH ",\"dhcp4\":true,\"dhcp6\":false}"));
}

static void
v2_has_a_nic_by_its_name(void **state)
{
    (void)state;
    assert_json(network_write_v2, &named,
                V2("\"eth0\":{\"dhcp4\":true,\"dhcp6\":false}"));
}

static void
v2_has_everything(void **state)
{
    (void)state;
    assert_json(network_write_v2, &everything,
                V2("\"nic0\":{" MATCH ",\"dhcp4\":false,\"dhcp6\":false,"
                   "\"accept-ra\":false,\"mtu\":1500,"
                   "\"addresses\":[\"192.0.2.10/24\",\"2001:db8::10/64\","
                   "\"192.0.2.11/25\"],"
                   "\"routes\":[{\"to\":\"0.0.0.0/0\",\"via\":\"192.0.2.1\"},"
                   "{\"to\":\"::/0\",\"via\":\"fe80::1\"},"
                   "{\"to\":\"198.51.100.0/24\",\"via\":\"192.0.2.254\",\"metric\":50},"
                   "{\"to\":\"2001:db8:1::/48\",\"via\":\"2001:db8::fe\"}],"
                   "\"nameservers\":{\"addresses\":[\"192.0.2.53\",\"2001:db8::53\"],"
                   "\"search\":[\"example.org\"]}}"));
}

static void
v2_says_what_is_optional_and_automatic(void **state)
{
    const struct nic nic = {
        .mac = TEXT(MAC), .dhcp6 = true, .accept_ra = ACCEPT_RA_YES, .optional = true};

    (void)state;
    assert_json(network_write_v2, &nic,
                V2("\"nic0\":{" MATCH ",\"dhcp4\":false,\"dhcp6\":true,"
                   "\"accept-ra\":true,\"optional\":true}"));
}

/* --- network_data.json ------------------------------------------------------------ */

#define DATA(link, networks)                                                             \
    "{\"links\":[{\"id\":\"nic0\",\"type\":\"phy\"," link "}],\"networks\":[" networks   \
    "],\"services\":[]}"
#define LINK "\"ethernet_mac_address\":\"" MAC "\""
#define NETWORK(number, type)                                                            \
    "{\"id\":\"network" number "\",\"link\":\"nic0\",\"type\":\"" type "\""

static void
network_data_has_dhcp(void **state)
{
    const struct nic both = {.mac = TEXT(MAC), .dhcp4 = true, .dhcp6 = true};

    (void)state;
    assert_json(network_write_openstack, &dhcp,
                DATA(LINK, NETWORK("0", "ipv4_dhcp") "}"));
    assert_json(network_write_openstack, &both,
                DATA(LINK, NETWORK("0", "ipv4_dhcp") "}," NETWORK("1", "ipv6_dhcp") "}"));
    assert_json(network_write_openstack, &automatic,
                DATA(LINK, NETWORK("0", "ipv6_slaac") "}"));
    assert_json(network_write_openstack, &nothing, DATA(LINK, ""));
}

static void
network_data_has_a_name_where_there_is_no_mac(void **state)
{
    (void)state;
    assert_json(network_write_openstack, &named,
                DATA("\"name\":\"eth0\"", NETWORK("0", "ipv4_dhcp") "}"));
}

static void
network_data_has_everything(void **state)
{
    (void)state;
    assert_json(
        network_write_openstack, &everything,
        DATA(
            LINK ",\"mtu\":1500",
            NETWORK(
                "0",
                "ipv4") ",\"ip_address\":\"192.0.2.10\",\"netmask\":\"255.255.255.0\","
                        "\"routes\":[{\"network\":\"0.0.0.0\",\"netmask\":\"0.0.0.0\","
                        "\"gateway\":\"192.0.2.1\"},{\"network\":\"198.51.100.0\","
                        "\"netmask\":\"255.255.255.0\",\"gateway\":\"192.0.2.254\",\"metric\":50}],"
                        "\"dns_nameservers\":[\"192.0.2.53\",\"2001:db8::53\"],"
                        "\"services\":[{\"type\":\"dns\",\"address\":\"192.0.2.53\"},"
                        "{\"type\":\"dns\",\"address\":\"2001:db8::53\"}],"
                        "\"dns_search\":[\"example.org\"]}," NETWORK("1", "ipv4") ",\"ip_address\":\"192.0.2.11\",\"netmask\":\"255.255.255.128\"}," NETWORK(
                            "2",
                            "ipv6") ",\"ip_address\":\"2001:db8::10\","
                                    "\"netmask\":\"ffff:ffff:ffff:ffff::\","
                                    "\"routes\":[{\"network\":\"::\",\"netmask\":\"::\","
                                    "\"gateway\":\"fe80::1\"},{\"network\":\"2001:db8:1::\","
                                    "\"netmask\":\"ffff:ffff:ffff::\","
                                    "\"gateway\":\"2001:db8::fe\"}]}"));
}

/* cloud-init takes accept-ra from the last network of IPv6. */
static void
network_data_ends_with_what_says_autoconfiguration(void **state)
{
    struct nic nic = {.mac = TEXT(MAC),
                      .dhcp6 = true,
                      .accept_ra = ACCEPT_RA_NO,
                      .addresses = &addresses[1],
                      .address_count = 1};

    (void)state;
    assert_json(network_write_openstack, &nic,
                DATA(LINK, NETWORK("0", "ipv6_dhcp") "}," NETWORK(
                               "1", "ipv6") ",\"ip_address\":\"2001:db8::10\","
                                            "\"netmask\":\"ffff:ffff:ffff:ffff::\"}"));
    nic.accept_ra = ACCEPT_RA_YES;
    assert_json(
        network_write_openstack, &nic,
        DATA(LINK, NETWORK("0", "ipv6") ",\"ip_address\":\"2001:db8::10\","
                                        "\"netmask\":\"ffff:ffff:ffff:ffff::\"}," NETWORK(
                                            "1", "ipv6_dhcp") "}"));
}

static void
network_data_refuses_what_it_cannot_say(void **state)
{
    struct nic nic = dhcp;

    (void)state;
    nic.optional = true;
    assert_refused(network_write_openstack, &nic, "is optional");
    nic = dhcp;
    nic.accept_ra = ACCEPT_RA_NO;
    assert_refused(network_write_openstack, &nic,
                   "has accept-ra=\"no\" and no IPv6 address");
    nic = everything;
    nic.accept_ra = ACCEPT_RA_YES;
    assert_refused(network_write_openstack, &nic, "has an IPv6 address and accept-ra");
    nic = dhcp;
    nic.routes = routes;
    nic.route_count = 1;
    assert_refused(network_write_openstack, &nic, "has a route and no address");
    /* An address of the other family does not help. */
    nic.addresses = &addresses[1];
    nic.address_count = 1;
    assert_refused(network_write_openstack, &nic, "has a route and no address");
    nic = dhcp;
    nic.addresses = addresses;
    nic.address_count = 1;
    nic.gateway6 = TEXT("fe80::1");
    assert_refused(network_write_openstack, &nic, "has a route and no address");
}

/* --- the user's own --------------------------------------------------------------- */

static void
takes_both_versions_with_and_without_the_wrapping(void **state)
{
    const char *const texts[] = {
        "version: 1\nconfig: [{type: physical, name: eth0}]\n",
        "version: 2\nethernets: {}\n",
        "network:\n  version: 1\n  config: [{type: physical, name: eth0}]\n",
        "network: {version: 2}\n",
        "#cloud-config\nversion: 2\n",
        "config: disabled\n",
        "network: {config: disabled}\n",
        "config: enabled\nnetwork: {version: 2}\n",
        "x: &x {version: 2}\nnetwork: *x\n",
    };
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        network_config_check(texts[i], strlen(texts[i]), &failure);
        assert_no_failure(failure);
    }
}

static void
assert_refuses(const char *text, enum failure_code code)
{
    struct failure *failure = NULL;

    if (network_config_check(text, strlen(text), &failure) == 0)
        print_error("taken:\n%s\n", text);
    assert_failure(&failure, code);
}

static void
refuses_what_cloud_init_would_ignore(void **state)
{
    const char *const texts[] = {
        "ethernets: {}\n",
        "network: {ethernets: {}}\n",
        "version: 3\n",
        "version: two\n",
        "network: {version: 0}\n",
        "versions: 2\n",
        "config: enabled\n",
        "version: {a: 2}\n",
        "a: {version: 2}\n",
        "version: 2\nnetwork: {ethernets: {}}\n",
        "network: {ethernets: {}}\nversion: 2\n",
        "version: 2\nnetwork:\n",
        "config: disabled\nnetwork: {version: 3}\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_refuses(texts[i], FAILURE_NETWORK_CONFIG);
}

static void
refuses_what_is_not_yaml(void **state)
{
    (void)state;
    assert_refuses("version: 2\n\tethernets: {}\n", FAILURE_YAML);
    assert_refuses("- version: 2\n", FAILURE_YAML);
    assert_refuses("<network/>\n", FAILURE_YAML);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v2_has_dhcp),
        cmocka_unit_test(v2_has_a_nic_by_its_name),
        cmocka_unit_test(v2_has_everything),
        cmocka_unit_test(v2_says_what_is_optional_and_automatic),
        cmocka_unit_test(network_data_has_dhcp),
        cmocka_unit_test(network_data_has_a_name_where_there_is_no_mac),
        cmocka_unit_test(network_data_has_everything),
        cmocka_unit_test(network_data_ends_with_what_says_autoconfiguration),
        cmocka_unit_test(network_data_refuses_what_it_cannot_say),
        cmocka_unit_test(takes_both_versions_with_and_without_the_wrapping),
        cmocka_unit_test(refuses_what_cloud_init_would_ignore),
        cmocka_unit_test(refuses_what_is_not_yaml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
