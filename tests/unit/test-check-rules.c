/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scalars are, and what Python writes of them: check/check.h. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "check/check.h"
#include "unit.h"

/* What PyYAML 6 makes of it, and whether str() gives back what was written. */
static const struct {
    const char *text;
    enum yaml_type type;
    bool as_written;
} scalars[] = {
    {"abc", YAML_TEXT, true},
    {"\"010\"", YAML_TEXT, true},
    {"'yes'", YAML_TEXT, true},
    {"!!str 010", YAML_TEXT, true},
    {"08", YAML_TEXT, true},
    {"1e3", YAML_TEXT, true},
    {"0o17", YAML_TEXT, true},
    {"12:60", YAML_TEXT, true},
    {"52:54:00:ab:cd:ef", YAML_TEXT, true},
    {"y", YAML_TEXT, true},
    {"~", YAML_NULL, false},
    {"Null", YAML_NULL, false},
    {"", YAML_NULL, false},
    {"yes", YAML_BOOLEAN, false},
    {"Off", YAML_BOOLEAN, false},
    {"true", YAML_BOOLEAN, false},
    {"True", YAML_BOOLEAN, true},
    {"5", YAML_INTEGER, true},
    {"-5", YAML_INTEGER, true},
    {"0", YAML_INTEGER, true},
    {"99999999999999999999", YAML_INTEGER, true},
    {"+5", YAML_INTEGER, false},
    {"-0", YAML_INTEGER, false},
    {"010", YAML_INTEGER, false},
    {"0x1F", YAML_INTEGER, false},
    {"1_000", YAML_INTEGER, false},
    {"52:54:00:12:34:56", YAML_INTEGER, false},
    {"1.5", YAML_FLOAT, true},
    {"100.0", YAML_FLOAT, true},
    {"1.50", YAML_FLOAT, false},
    {"01.5", YAML_FLOAT, false},
    {".5", YAML_FLOAT, false},
    {"5.", YAML_FLOAT, false},
    {"1.0e+3", YAML_FLOAT, false},
    {"2026-01-01", YAML_TIMESTAMP, true},
    {"2026-01-01 1:02:03", YAML_TIMESTAMP, false},
};

static void
knows_what_pyyaml_makes_of_a_scalar(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(scalars); i++) {
        cleanup_free char *text = xasprintf("a: %s\n", scalars[i].text);
        cleanup_yaml struct yaml yaml = {0};
        struct failure *failure = NULL;
        const struct yaml_node *node;

        yaml_read(&yaml, text, strlen(text), YAML_ONE_MAPPING, &failure);
        assert_no_failure(failure);
        node = yaml_get(yaml.root, "a");
        if (node->type != scalars[i].type ||
            rules_is_as_written(node) != scalars[i].as_written)
            print_error("of '%s'\n", scalars[i].text);
        assert_int_equal(node->type, scalars[i].type);
        assert_int_equal(rules_is_as_written(node), scalars[i].as_written);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_pyyaml_makes_of_a_scalar),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
