/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of TCP, as people write them: base/inet.h. */
#include "config.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/inet.h"
#include "base/memory.h"
#include "unit.h"

static void
reads_ipv4(void **state)
{
    union inet_address address;
    int port;

    (void)state;
    assert_int_equal(inet_address_read(&address, "192.0.2.1", &port),
                     sizeof(struct sockaddr_in));
    assert_int_equal(address.ipv4.sin_family, AF_INET);
    assert_int_equal(ntohl(address.ipv4.sin_addr.s_addr), 0xc0000201);
    assert_int_equal(port, -1);
    assert_true(inet_address_read(&address, "192.0.2.1:8080", &port) > 0);
    assert_int_equal(port, 8080);
    assert_int_equal(ntohs(address.ipv4.sin_port), 8080);
}

static void
reads_ipv6_in_brackets(void **state)
{
    const unsigned char bytes[16] = {0xfd, [15] = 1};
    union inet_address address;
    int port;

    (void)state;
    assert_int_equal(inet_address_read(&address, "[fd00::1]", &port),
                     sizeof(struct sockaddr_in6));
    assert_int_equal(address.ipv6.sin6_family, AF_INET6);
    assert_memory_equal(&address.ipv6.sin6_addr, bytes, sizeof(bytes));
    assert_int_equal(port, -1);
    inet_address_set_port(&address, 80);
    assert_int_equal(ntohs(address.ipv6.sin6_port), 80);
    assert_true(inet_address_read(&address, "[fd00::1]:65535", &port) > 0);
    assert_int_equal(ntohs(address.ipv6.sin6_port), 65535);
    assert_int_equal(address.ipv6.sin6_scope_id, 0);
}

static void
port_0_is_a_port(void **state)
{
    union inet_address address;
    int port;

    (void)state;
    assert_true(inet_address_read(&address, "192.0.2.1:0", &port) > 0);
    assert_int_equal(port, 0);
}

static void
refuses_everything_else(void **state)
{
    const char *const texts[] = {"",
                                 "x",
                                 ":80",
                                 "192.0.2",
                                 "192.0.2.256",
                                 "192.0.2.1:",
                                 "192.0.2.1/8",
                                 "192.0.2.1:-1",
                                 "192.0.2.1:65536",
                                 "192.0.2.1:080",
                                 "fd00::1",
                                 "[192.0.2.1]",
                                 "[fd00::1",
                                 "[fd00::1]80",
                                 "192.0.2.1:80x",
                                 "[]",
                                 "[fd00::1]:",
                                 "[fe80::1%lo]",
                                 "192.0.2.1:8 ",
                                 "192.0.2.1:999999"};
    union inet_address address;
    int port;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_int_equal(inet_address_read(&address, texts[i], &port), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_ipv4),
        cmocka_unit_test(reads_ipv6_in_brackets),
        cmocka_unit_test(port_0_is_a_port),
        cmocka_unit_test(refuses_everything_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
