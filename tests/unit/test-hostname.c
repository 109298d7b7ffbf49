/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host names, given and made of a domain's name: domain/hostname.h. */
#include "config.h"

#include <string.h>

#include "domain/hostname.h"
#include "unit.h"

static void
takes_names_of_one_or_several_labels(void **state)
{
    const char *const names[] = {
        "web1",       "web1.example.org",     "WEB-1", "1", "a", "3com.example", "1.2.3",
        "192.0.2.1a", "xn--bcher-kva.example"};
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        hostname_check(names[i], &failure);
        assert_no_failure(failure);
    }
}

static void
refuses_what_is_no_host_name(void **state)
{
    const char *const names[] = {
        "",         ".",         "a.",        ".a",    "a..b", "-a",
        "a-",       "a.-b",      "a_b",       "a b",   "a\nb", "b\xc3\xbc",
        "a;reboot", "$(reboot)", "192.0.2.1", "web1/", "a,b"};
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(hostname_check(names[i], &failure), -1);
        assert_failure(&failure, FAILURE_HOSTNAME);
    }
}

static void
knows_the_limits_of_labels_and_names(void **state)
{
    struct failure *failure = NULL;
    char name[512] = "";

    (void)state;
    memset(name, 'a', 63);
    hostname_check(name, &failure);
    assert_no_failure(failure);
    name[63] = 'a';
    assert_int_equal(hostname_check(name, &failure), -1);
    assert_failure(&failure, FAILURE_HOSTNAME);

    memset(name, 'a', 253);
    name[63] = name[127] = name[191] = '.';
    hostname_check(name, &failure);
    assert_no_failure(failure);
    name[253] = 'a';
    assert_int_equal(hostname_check(name, &failure), -1);
    assert_failure(&failure, FAILURE_HOSTNAME);
}

static void
makes_a_host_name_of_the_domains_name(void **state)
{
    const struct {
        const char *name;
        const char *hostname;
    } cases[] = {
        {"web1", "web1"},
        {"Web_1", "web-1"},
        {"web1.example.org", "web1-example-org"},
        {"  my vm  ", "my-vm"},
        {"--x--", "x"},
        {"b\xc3\xbc"
         "cher",
         "b--cher"},
        {"\xc3\xbc", "vm-4dea22b3"},
        {"___", "vm-4dea22b3"},
        {"", "vm-4dea22b3"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cleanup_free char *hostname = hostname_from_domain(cases[i].name, UNIT_UUID);

        assert_string_equal(hostname, cases[i].hostname);
    }
}

static void
makes_a_host_name_that_passes_its_own_check(void **state)
{
    char name[201] = "";
    struct failure *failure = NULL;

    (void)state;
    /* What is cut off may leave a dash at the end. */
    for (size_t length = 1; length < sizeof(name) - 1; length++) {
        cleanup_free char *hostname = NULL;

        memset(name, 'a', length);
        name[length - 1] = '-';
        name[length] = 'b';
        hostname = hostname_from_domain(name, UNIT_UUID);
        hostname_check(hostname, &failure);
        assert_no_failure(failure);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_names_of_one_or_several_labels),
        cmocka_unit_test(refuses_what_is_no_host_name),
        cmocka_unit_test(knows_the_limits_of_labels_and_names),
        cmocka_unit_test(makes_a_host_name_of_the_domains_name),
        cmocka_unit_test(makes_a_host_name_that_passes_its_own_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
