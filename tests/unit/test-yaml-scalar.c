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

/* Under the tag, as a value and as a key. */
static void
assert_tagged(const char *tag, const char *text, bool good)
{
    cleanup_free char *value = xasprintf("a: %s %s\n", tag, text);
    cleanup_free char *key = xasprintf("? %s %s\n: a\n", tag, text);

    if (good) {
        assert_takes(value);
        assert_takes(key);
    } else {
        assert_refuses(value);
        assert_refuses(key);
    }
}

static void
takes_what_a_tag_says(void **state)
{
    const char *const values[][2] = {
        {"!!int", "12"},
        {"!!int", "-1_000"},
        {"!!int", "0"},
        {"!!int", "0x1F"},
        {"!!int", "0b11"},
        {"!!int", "017"},
        {"!!int", "1:30:09"},
        {"!!int", "'12'"},
        {"!!float", "1"},
        {"!!float", "-1.5e+3"},
        {"!!float", "010"},
        {"!!float", ".5"},
        {"!!float", "1."},
        {"!!float", "-.INF"},
        {"!!float", ".nan"},
        {"!!float", "1:30.5"},
        {"!!bool", "Yes"},
        {"!!bool", "'OFF'"},
        {"!!null", "~"},
        {"!!binary", "c2VlZA=="},
        {"!!binary", "'c2Vl ZA=='"},
        {"!!binary", "''"},
        {"!!timestamp", "2024-02-09"},
        {"!!timestamp", "2024-02-29T23:59:59.5-05:30"},
        {"!!timestamp", "'2024-02-29 1:02:03 Z'"},
        {"!!str", "="},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(values); i++)
        assert_tagged(values[i][0], values[i][1], true);
}

static void
refuses_what_is_not_what_its_tag_says(void **state)
{
    const char *const values[][2] = {
        {"!!int", "x"},
        {"!!int", "0o17"},
        {"!!int", "' 12 '"},
        {"!!int", "--1"},
        {"!!int", "''"},
        {"!!int", "+"},
        {"!!int", "1.5"},
        {"!!int", "09"},
        {"!!int", "0x"},
        {"!!int", "0b2"},
        {"!!int", "1:"},
        {"!!int", "\"1\\0\""},
        {"!!float", "x"},
        {"!!float", "''"},
        {"!!float", "."},
        {"!!float", "1e"},
        {"!!float", "0x1"},
        {"!!float", "1:30"},
        {"!!float", "infinity"},
        {"!!bool", "y"},
        {"!!bool", "oFF"},
        {"!!null", "x"},
        {"!!bool", "''"},
        {"!!binary", "c2VlZA"},
        {"!!binary", "x"},
        {"!!binary", "\xc3\xa4"},
        {"!!timestamp", "x"},
        {"!!timestamp", "2024-2-9"},
        {"!!timestamp", "2024-02-30"},
        {"!!timestamp", "2024-02-29T24:00:00"},
        {"!!map", "x"},
        {"!!seq", "{}"},
        {"!!set", "{x}"},
        {"!!omap", "[x: 1]"},
        {"!!pairs", "[x: 1]"},
        {"!!merge", "'<<'"},
        {"!!python/unicode", "x"},
        {"!!str", "[]"},
        {"!!null", "{}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(values); i++)
        assert_tagged(values[i][0], values[i][1], false);
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
        "2024-02-30",
        "2023-02-29",
        "1900-02-29",
        "2024-13-01",
        "2024-00-01",
        "2024-01-00",
        "2024-04-31",
        "0000-01-01",
        "2024-2-30 0:00:00",
        "2024-01-01 24:00:00",
        "2024-01-01 00:60:00",
        "2024-01-01 00:00:60",
        "2024-01-01 00:00:00 +24",
        "2024-01-01t00:00:00-23:60",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_tagged("", good[i], true);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_tagged("", bad[i], false);
}

static void
knows_which_numbers_there_are(void **state)
{
    char digits[LIMIT_YAML_NUMBER + 2] = "";

    (void)state;
    assert_tagged("", "0_", true);
    assert_tagged("", "0b_1", true);
    assert_tagged("", "0b_", false);
    assert_tagged("", "-0x__", false);
    memset(digits, '1', LIMIT_YAML_NUMBER);
    assert_tagged("", digits, true);
    digits[LIMIT_YAML_NUMBER] = '1';
    assert_tagged("", digits, false);
}

static void
refuses_what_stands_for_no_value(void **state)
{
    (void)state;
    assert_refuses("a: =\n");
    assert_refuses("a: [=]\n");
    assert_refuses("a: ! '='\n");
    assert_refuses("a: <<\n");
    assert_refuses("a: [<<]\n");
    assert_takes("a: '='\nb: '<<'\nc: == \n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_a_tag_says),
        cmocka_unit_test(refuses_what_is_not_what_its_tag_says),
        cmocka_unit_test(knows_which_dates_there_are),
        cmocka_unit_test(knows_which_numbers_there_are),
        cmocka_unit_test(refuses_what_stands_for_no_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
