/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network's configuration: seed/network.h. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "seed/network.h"
#include "unit.h"

static void
takes_both_versions_with_and_without_the_wrapping(void **state)
{
    const char *const texts[] = {
        "version: 1\nconfig: []\n",
        "version: 2\nethernets: {}\n",
        "network:\n  version: 1\n  config: []\n",
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
        "# only a comment\n",
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
        cmocka_unit_test(takes_both_versions_with_and_without_the_wrapping),
        cmocka_unit_test(refuses_what_cloud_init_would_ignore),
        cmocka_unit_test(refuses_what_is_not_yaml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
