/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which values PyYAML can make of YAML's scalars: seed/yaml-scalar.c. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "seed/yaml.h"
#include "unit.h"

static int
read_text(const char *text, struct failure **failure)
{
    return yaml_check(text, strlen(text), YAML_ONE_MAPPING, failure);
}

static void
assert_takes(const char *text)
{
    struct failure *failure = NULL;

    if (read_text(text, &failure) < 0)
        print_error("refused:\n%s\n", text);
    assert_no_failure(failure);
}

static void
assert_refuses(const char *text)
{
    struct failure *failure = NULL;

    if (read_text(text, &failure) == 0)
        print_error("taken:\n%s\n", text);
    assert_failure(&failure, FAILURE_YAML);
}

/* As a value and as a key. */
static void
assert_plain(const char *text, bool good)
{
    cleanup_free char *value = xasprintf("a: %s\n", text);
    cleanup_free char *key = xasprintf("? %s\n: a\n", text);

    if (good) {
        assert_takes(value);
        assert_takes(key);
    } else {
        assert_refuses(value);
        assert_refuses(key);
    }
}

static void
knows_which_dates_there_are(void **state)
{
    const char *const good[] = {
        "2024-02-29", "2000-02-29",  "2023-12-31",
        "0001-01-01", "2024-2-30",   "2024-01-01 00:00:00 +23:59",
        "2024-13-1",  "2024-13-01x",
    };
    const char *const bad[] = {
        "2024-02-30",          "2023-02-29",          "1900-02-29",
        "2024-13-01",          "2024-00-01",          "2024-01-00",
        "2024-04-31",          "0000-01-01",          "2024-2-30 0:00:00",
        "2024-01-01 24:00:00", "2024-01-01 00:60:00", "2024-01-01 00:00:60",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_plain(good[i], true);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_plain(bad[i], false);
}

static void
knows_which_numbers_there_are(void **state)
{
    char digits[LIMIT_YAML_NUMBER + 2] = "";

    (void)state;
    assert_plain("0_", true);
    assert_plain("0b_1", true);
    assert_plain("0b_", false);
    assert_plain("-0x__", false);
    memset(digits, '1', LIMIT_YAML_NUMBER);
    assert_plain(digits, true);
    digits[LIMIT_YAML_NUMBER] = '1';
    assert_plain(digits, false);
}

static void
refuses_what_stands_for_no_value(void **state)
{
    (void)state;
    assert_refuses("a: =\n");
    assert_refuses("a: [=]\n");
    assert_refuses("a: <<\n");
    assert_refuses("a: [<<]\n");
    assert_takes("a: '='\nb: '<<'\nc: == \n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_which_dates_there_are),
        cmocka_unit_test(knows_which_numbers_there_are),
        cmocka_unit_test(refuses_what_stands_for_no_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
