/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that may be no UTF-8. */
#include "config.h"

#include <string.h>

#include "base/utf8.h"
#include "unit.h"

static void
check(const char *text, const char *expected)
{
    char copy[64];

    strcpy(copy, text);
    utf8_repair(copy);
    assert_string_equal(copy, expected);
}

static void
leaves_characters_of_each_length(void **state)
{
    (void)state;
    check("", "");
    check("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z",
          "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
}

static void
replaces_a_character_that_is_cut(void **state)
{
    (void)state;
    check("a\xc3", "a?");
    check("a\xe2\x82", "a??");
    check("\xf0\x9f\x98", "???");
    check("\xc3z", "?z");
}

static void
replaces_what_is_no_character(void **state)
{
    (void)state;
    check("\x80\xff", "??");
    check("\xc0\x80", "??");
    check("\xe0\x80\x80", "???");
    check("\xed\xa0\x80", "???");
    check("\xf4\x90\x80\x80", "????");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_characters_of_each_length),
        cmocka_unit_test(replaces_a_character_that_is_cut),
        cmocka_unit_test(replaces_what_is_no_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
