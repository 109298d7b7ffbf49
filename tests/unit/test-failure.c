/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What went wrong, said once and carried up: base/failure.h. */
#include "config.h"

#include <errno.h>
#include <string.h>

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
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
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
        cmocka_unit_test(keeps_the_first_hint_and_the_first_line),
        cmocka_unit_test(gets_its_context_in_front),
        cmocka_unit_test(has_a_name_of_its_own_for_each_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
