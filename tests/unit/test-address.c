/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and their prefixes: domain/address.h. */
#include "config.h"

#include <sys/socket.h>

#include "base/memory.h"
#include "domain/address.h"
#include "unit.h"

static void
reads_both_families(void **state)
{
    struct address address;

    (void)state;
    assert_true(address_parse(&address, "192.0.2.1"));
    assert_int_equal(address.family, AF_INET);
    assert_int_equal(address.prefix, 32);
    assert_true(address_parse(&address, "2001:DB8::1"));
    assert_int_equal(address.family, AF_INET6);
    assert_int_equal(address.prefix, 128);
}

static void
refuses_what_is_no_address(void **state)
{
    const char *const texts[] = {
        "",           "x",          "192.0.2",      "192.0.2.256", "192.0.2.01",
        "192.0.2.1 ", "2001::1::2", "fe80::1%eth0", "0x7f.1",      "192.0.2.1/24"};
    struct address address;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_false(address_parse(&address, texts[i]));
}

static void
refuses_what_is_no_prefix(void **state)
{
    const char *const texts[] = {"192.0.2.1",    "192.0.2.1/",          "192.0.2.1/33",
                                 "192.0.2.1/-1", "192.0.2.1/+8",        "192.0.2.1/024",
                                 "192.0.2.1/8 ", "192.0.2.1/255.0.0.0", "2001:db8::/129",
                                 "/24",          "192.0.2.1/4294967320"};
    struct address address;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_false(address_parse_with_prefix(&address, texts[i]));
}

static void
takes_a_netmask_or_its_length(void **state)
{
    const struct {
        const char *address;
        const char *mask;
        int prefix;
    } cases[] = {
        {"192.0.2.1", "255.255.255.0", 24}, {"192.0.2.1", "24", 24},
        {"192.0.2.1", "0.0.0.0", 0},        {"192.0.2.1", "255.255.255.255", 32},
        {"192.0.2.1", "255.255.254.0", 23}, {"2001:db8::1", "64", 64},
        {"2001:db8::1", "ffff:ffff::", 32}, {"2001:db8::1", "128", 128},
    };
    struct address address;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_true(address_parse(&address, cases[i].address));
        assert_true(address_set_prefix(&address, cases[i].mask));
        assert_int_equal(address.prefix, cases[i].prefix);
    }
}

static void
refuses_a_netmask_with_holes_or_of_the_other_family(void **state)
{
    const char *const masks[] = {"255.0.255.0", "0.0.0.255", "33", "", "x", "ffff::"};
    struct address address;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
        assert_true(address_parse(&address, "192.0.2.1"));
        assert_false(address_set_prefix(&address, masks[i]));
    }
}

static void
assert_host(const char *text, bool expected)
{
    struct address address;

    assert_true(address_parse_with_prefix(&address, text));
    if (address_is_host(&address) != expected)
        fail_msg("'%s'", text);
}

static void
tells_hosts_from_networks(void **state)
{
    const char *const hosts[] = {"192.0.2.1/24", "192.0.2.0/31",   "192.0.2.255/32",
                                 "192.0.3.0/23", "2001:db8::1/64", "2001:db8::/127",
                                 "fe80::1/64",   "192.0.2.254/24", "2001:db8::ffff/112"};
    const char *const others[] = {
        "192.0.2.0/24",  "192.0.2.255/24",      "127.0.0.1/8",
        "224.0.0.1/4",   "0.0.0.0/0",           "255.255.255.255/32",
        "0.1.2.3/8",     "2001:db8::/64",       "::/0",
        "::1/128",       "ff02::1/64",          "192.0.2.1/0",
        "2001:db8::1/0", "::ffff:192.0.2.1/120"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
        assert_host(hosts[i], true);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        assert_host(others[i], false);
}

static void
knows_addresses_of_one_machine(void **state)
{
    const char *const unicast[] = {"192.0.2.53", "127.0.0.53", "2001:db8::53", "::1"};
    const char *const others[] = {"0.0.0.0", "::", "255.255.255.255", "224.0.0.251",
                                  "ff02::fb"};
    struct address address;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(unicast); i++) {
        assert_true(address_parse(&address, unicast[i]));
        assert_true(address_is_unicast(&address));
    }
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        assert_true(address_parse(&address, others[i]));
        assert_false(address_is_unicast(&address));
    }
}

static bool
covers(const char *network, const char *text)
{
    struct address one, two;

    assert_true(address_parse_with_prefix(&one, network));
    assert_true(address_parse(&two, text));
    return address_covers(&one, &two);
}

static void
knows_what_is_in_a_network(void **state)
{
    (void)state;
    assert_true(covers("192.0.2.10/24", "192.0.2.1"));
    assert_false(covers("192.0.2.10/24", "192.0.3.1"));
    assert_true(covers("192.0.2.10/23", "192.0.3.1"));
    assert_true(covers("192.0.2.10/0", "8.8.8.8"));
    assert_true(covers("2001:db8::1/65", "2001:db8::7fff:0:0:1"));
    assert_false(covers("2001:db8::1/65", "2001:db8::8000:0:0:1"));
    assert_false(covers("::1/0", "192.0.2.1"));
}

static void
writes_them_in_their_usual_form(void **state)
{
    struct address address, base;
    cleanup_free char *text = NULL;
    cleanup_free char *with_prefix = NULL;
    cleanup_free char *network = NULL;
    cleanup_free char *netmask = NULL;

    (void)state;
    assert_true(address_parse_with_prefix(&address, "2001:0DB8:0:0:00::a/33"));
    text = address_format(&address);
    with_prefix = address_format_with_prefix(&address);
    base = address_network(&address);
    network = address_format(&base);
    netmask = address_format_netmask(&address);
    assert_string_equal(text, "2001:db8::a");
    assert_string_equal(with_prefix, "2001:db8::a/33");
    assert_string_equal(network, "2001:db8::");
    assert_string_equal(netmask, "ffff:ffff:8000::");
}

static void
knows_link_local_addresses(void **state)
{
    struct address address;

    (void)state;
    assert_true(address_parse(&address, "febf::1"));
    assert_true(address_is_link_local6(&address));
    assert_true(address_parse(&address, "fec0::1"));
    assert_false(address_is_link_local6(&address));
    assert_true(address_parse(&address, "254.128.0.1"));
    assert_false(address_is_link_local6(&address));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_families),
        cmocka_unit_test(refuses_what_is_no_address),
        cmocka_unit_test(refuses_what_is_no_prefix),
        cmocka_unit_test(takes_a_netmask_or_its_length),
        cmocka_unit_test(refuses_a_netmask_with_holes_or_of_the_other_family),
        cmocka_unit_test(tells_hosts_from_networks),
        cmocka_unit_test(knows_addresses_of_one_machine),
        cmocka_unit_test(knows_what_is_in_a_network),
        cmocka_unit_test(writes_them_in_their_usual_form),
        cmocka_unit_test(knows_link_local_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
