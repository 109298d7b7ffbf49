/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UUIDs: domain/uuid.c. */
#include "config.h"

#include "domain/uuid.h"
#include "unit.h"

static void
reads_what_libvirt_reads(void **state)
{
    static const char expected[] = "4dea22b3-1d52-d8f3-2516-782e98ab3fa0";
    static const char *const valid[] = {
        "4dea22b3-1d52-d8f3-2516-782e98ab3fa0",
        "4DEA22B3-1D52-D8F3-2516-782E98AB3FA0",
        "4dea22b31d52d8f32516782e98ab3fa0",
        " 4dea22b3 1d52d8f3-2516-782e98ab3fa0\n",
    };
    static const char *const invalid[] = {
        "",
        "4dea22b3-1d52-d8f3-2516-782e98ab3fa",
        "4dea22b3-1d52-d8f3-2516-782e98ab3fa00",
        "4dea22b3-1d52-d8f3-2516-782e98ab3fag",
    };
    char uuid[UUID_LENGTH + 1];

    for (size_t i = 0; i < ARRAY_SIZE(valid); i++) {
        assert_true(uuid_read(uuid, valid[i]));
        assert_string_equal(uuid, expected);
    }
    for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
        assert_false(uuid_read(uuid, invalid[i]));
}

static void
makes_random_ones(void **state)
{
    char first[UUID_LENGTH + 1], second[UUID_LENGTH + 1];

    uuid_make(first);
    uuid_make(second);
    assert_true(text_is_uuid(first));
    assert_string_not_equal(first, second);
    assert_int_equal(first[14], '4');
    assert_non_null(strchr("89ab", first[19]));
}

/* As Python's uuid.uuid5() does. */
static void
makes_that_of_a_name(void **state)
{
    char uuid[UUID_LENGTH + 1];

    uuid_make_of_name(uuid, "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com");
    assert_string_equal(uuid, "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    uuid_make_of_name(uuid, "", "web1");
    assert_string_equal(uuid, "f8703135-f741-5815-b955-5342b39e650d");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_libvirt_reads),
        cmocka_unit_test(makes_random_ones),
        cmocka_unit_test(makes_that_of_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
