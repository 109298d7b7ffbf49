/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that grow: base/buffer.h. */
#include "config.h"

#include <string.h>

#include "unit.h"

static void
starts_without_memory(void **state)
{
    cleanup_buffer struct buffer buffer = {0};

    (void)state;
    buffer_clear(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.size, 0);
}

static void
ends_with_a_nul_that_does_not_count(void **state)
{
    cleanup_buffer struct buffer buffer = {0};

    (void)state;
    buffer_append_string(&buffer, "meta");
    buffer_append(&buffer, "-data", 5);
    unit_assert_content(&buffer, "meta-data");
    buffer_append(&buffer, NULL, 0);
    unit_assert_content(&buffer, "meta-data");
}

static void
has_text_where_nothing_was_added_to_it(void **state)
{
    cleanup_buffer struct buffer buffer = {0};

    (void)state;
    buffer_append_string(&buffer, "");
    assert_non_null(buffer.data);
    unit_assert_content(&buffer, "");
}

static void
keeps_its_content_while_it_grows(void **state)
{
    cleanup_buffer struct buffer buffer = {0};

    (void)state;
    for (int i = 0; i < 10000; i++)
        buffer_append(&buffer, &(char){(char)('a' + i % 26)}, 1);
    assert_int_equal(buffer.size, 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(buffer.data[i], 'a' + i % 26);
    assert_int_equal(buffer.data[10000], '\0');
}

static void
makes_room_behind_the_content(void **state)
{
    cleanup_buffer struct buffer buffer = {0};
    char *end;

    (void)state;
    buffer_append_string(&buffer, "user-");
    end = buffer_reserve(&buffer, 4);
    assert_ptr_equal(end, buffer.data + 5);
    memcpy(end, "data", 5);
    buffer.size += 4;
    unit_assert_content(&buffer, "user-data");
}

static void
takes_what_is_formatted(void **state)
{
    cleanup_buffer struct buffer buffer = {0};

    (void)state;
    buffer_printf(&buffer, "%s-%d", "user", 7);
    unit_assert_content(&buffer, "user-7");
    buffer_printf(&buffer, "%s", "");
    buffer_printf(&buffer, "%2000d", 1);
    assert_int_equal(buffer.size, 2006);
    assert_memory_equal(buffer.data, "user-7 ", 7);
    assert_string_equal(buffer.data + 2004, " 1");
}

static void
is_empty_after_its_content_was_taken(void **state)
{
    cleanup_buffer struct buffer buffer = {0};
    cleanup_buffer struct buffer taken = {0};

    (void)state;
    buffer_append_string(&buffer, "seed");
    taken = steal_buffer(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.size, 0);
    unit_assert_content(&taken, "seed");
    buffer_append_string(&buffer, "again");
    unit_assert_content(&buffer, "again");
}

static void
is_the_same_as_one_with_equal_content(void **state)
{
    cleanup_buffer struct buffer one = {0};
    cleanup_buffer struct buffer other = {0};

    (void)state;
    assert_true(buffer_is_same(&one, &other));
    buffer_append(&one, "a\0b", 3);
    assert_false(buffer_is_same(&one, &other));
    buffer_append(&other, "a\0c", 3);
    assert_false(buffer_is_same(&one, &other));
    buffer_clear(&other);
    buffer_append(&other, "a\0b", 3);
    assert_true(buffer_is_same(&one, &other));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_without_memory),
        cmocka_unit_test(ends_with_a_nul_that_does_not_count),
        cmocka_unit_test(has_text_where_nothing_was_added_to_it),
        cmocka_unit_test(keeps_its_content_while_it_grows),
        cmocka_unit_test(makes_room_behind_the_content),
        cmocka_unit_test(takes_what_is_formatted),
        cmocka_unit_test(is_empty_after_its_content_was_taken),
        cmocka_unit_test(is_the_same_as_one_with_equal_content),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
