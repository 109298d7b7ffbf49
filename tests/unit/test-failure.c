/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What went wrong, said once and carried up: base/failure.h. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "unit.h"

static void
holds_the_code_and_the_message(void **state)
{
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_int_equal(failure_set(&failure, FAILURE_XML, "line %d: '%s'", 3, "x"), -1);
    assert_int_equal(failure->code, FAILURE_XML);
    assert_string_equal(failure->message, "line 3: 'x'");
    assert_null(failure->hint);
    assert_int_equal(failure->line, 0);
}

static void
says_the_error_of_either_sign(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        cleanup_failure struct failure *failure = NULL;

        failure_set_errno(&failure, FAILURE_SYSTEM, sign * ENOSPC, "could not write %s",
                          "it");
        assert_string_equal(failure->message,
                            "could not write it: No space left on device");
    }
}

static void
takes_the_hint_after_a_line_end(void **state)
{
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_int_equal(failure_set(&failure, FAILURE_LIMIT,
                                 "'%s' has %d bytes\nremove %s, or give %d", "it", 9,
                                 "some", 8),
                     -1);
    assert_string_equal(failure->message, "'it' has 9 bytes");
    assert_string_equal(failure->hint, "remove some, or give 8");
}

static void
takes_no_hint_from_a_value(void **state)
{
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    failure_set(&failure, FAILURE_LIMIT, "'%s' is long\nwrite '%s'", "a\nb", "c\nd");
    assert_string_equal(failure->message, "'a?b' is long");
    assert_string_equal(failure->hint, "write 'c?d'");
}

static void
says_the_error_before_the_hint(void **state)
{
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_int_equal(failure_set_errno(&failure, FAILURE_SYSTEM, -EACCES,
                                       "could not open %s\nrun it as %s", "it", "root"),
                     -1);
    assert_string_equal(failure->message, "could not open it: Permission denied");
    assert_string_equal(failure->hint, "run it as root");
}

static void
has_the_line_that_it_is_set_at(void **state)
{
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_int_equal(
        failure_set_at(&failure, FAILURE_XML, 7, "<%s> is empty\nfill it", "a"), -1);
    assert_int_equal(failure->line, 7);
    assert_string_equal(failure->message, "<a> is empty");
    assert_string_equal(failure->hint, "fill it");
    failure_at_line(&failure, 9);
    failure_hint(&failure, "remove it");
    assert_int_equal(failure->line, 7);
    assert_string_equal(failure->hint, "fill it");
}

static void
keeps_the_first_hint_and_the_first_line(void **state)
{
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    failure_set(&failure, FAILURE_FILE, "gone");
    assert_int_equal(failure_hint(&failure, "look in %s", "/srv"), -1);
    assert_int_equal(failure_hint(&failure, "give up"), -1);
    assert_int_equal(failure_at_line(&failure, 7), -1);
    assert_int_equal(failure_at_line(&failure, 9), -1);
    assert_string_equal(failure->hint, "look in /srv");
    assert_int_equal(failure->line, 7);
}

static void
gets_its_context_in_front(void **state)
{
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    failure_set(&failure, FAILURE_YAML, "not a mapping");
    assert_int_equal(failure_prefix(&failure, "<%s>", "user-data"), -1);
    failure_prefix(&failure, "domain '%s'", "web1");
    assert_string_equal(failure->message, "domain 'web1': <user-data>: not a mapping");
}

/* Scripts compare the names: they are stable, and each is one code's. */
static void
has_a_name_of_its_own_for_each_code(void **state)
{
    const char *const names[] = {
#define NAME(name, text) text,
        FAILURE_CODES(NAME)
#undef NAME
    };

    (void)state;
    assert_string_equal(failure_code_name(FAILURE_SECRET_MODE), "secret-mode");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        assert_string_equal(failure_code_name((enum failure_code)i), names[i]);
        assert_int_equal(strspn(names[i], "abcdefghijklmnopqrstuvwxyz0123456789-"),
                         strlen(names[i]));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(names[i], names[j]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_the_code_and_the_message),
        cmocka_unit_test(says_the_error_of_either_sign),
        cmocka_unit_test(takes_the_hint_after_a_line_end),
        cmocka_unit_test(takes_no_hint_from_a_value),
        cmocka_unit_test(says_the_error_before_the_hint),
        cmocka_unit_test(has_the_line_that_it_is_set_at),
        cmocka_unit_test(keeps_the_first_hint_and_the_first_line),
        cmocka_unit_test(gets_its_context_in_front),
        cmocka_unit_test(has_a_name_of_its_own_for_each_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
