/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that may be no UTF-8. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
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

static void
check_controls(const char *text, const char *expected)
{
    char copy[64];

    strcpy(copy, text);
    utf8_replace_controls(copy);
    assert_string_equal(copy, expected);
}

static void
replaces_control_characters(void **state)
{
    (void)state;
    check_controls("a\033[2J\x7f\n", "a?[2J??");
    check_controls("\xc2\x9b"
                   "31m",
                   "??31m");
    check_controls("\xc2\xa0\xc3\xa9", "\xc2\xa0\xc3\xa9");
    check_controls("\xc2", "?");
    check_controls("a\x9b"
                   "31mb",
                   "a?31mb");
    check_controls("\u061c\u206a\u206f", "????????");
}

/* The first and the last of each range, and their neighbours. */
static void
replaces_what_is_not_seen_or_turns_text_around(void **state)
{
    static const char *const unfit[] = {
        "\u200b", "\u200f", "\u2028", "\u202e", "\u2060", "\u206f", "\ufeff",
    };
    static const char *const fit[] = {
        "\u200a", "\u2010", "\u2027",     "\u202f",     "\u205f", "\u2070",
        "\ufefe", "\uff00", "\U000dffff", "\U000e0080", "\u20ac", "\U0001f600",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(unfit); i++)
        check_controls(unfit[i], "???");
    check_controls("\U000e0000z\U000e007f", "????z????");
    for (size_t i = 0; i < ARRAY_SIZE(fit); i++)
        check_controls(fit[i], fit[i]);
    check_controls("\xe2\x80", "??");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_characters_of_each_length),
        cmocka_unit_test(replaces_a_character_that_is_cut),
        cmocka_unit_test(replaces_what_is_no_character),
        cmocka_unit_test(replaces_control_characters),
        cmocka_unit_test(replaces_what_is_not_seen_or_turns_text_around),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
