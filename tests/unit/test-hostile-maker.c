/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A maker that was taken over: the rows of tests/hostile/maker-rows.h are read. */
#include "config.h"

#include "../hostile/maker-rows.h"
#include "base/memory.h"
#include "unit.h"

static exchange_taker *const readers[] = {
    [READER_OF_NEEDS] = exchange_take_needs,
    [READER_OF_WIRING_NEEDS] = exchange_take_wiring_needs,
    [READER_OF_VERDICT] = exchange_take_verdict,
    [READER_OF_RESULT] = exchange_take_result,
    [READER_OF_WIRED] = exchange_take_wired,
};

static void
assert_row(const struct maker_rows *group, const struct maker_row *row)
{
    cleanup_buffer struct buffer message = {0};

    for (const struct field *field = row->fields; field->kind != FIELD_NONE; field++)
        field_put(field, &message);
    if (exchange_take_part(readers[group->reader], &row->given, &message, message.size) !=
        group->is_taken)
        fail_msg("%s is %s", row->what, group->is_taken ? "refused" : "taken");
}

/* Asserts what becomes of all rows for that reader. */
static void
assert_rows_of(enum maker_reader reader)
{
    size_t count = 0;

    for (size_t i = 0; i < maker_rows_count; i++) {
        const struct maker_rows *group = &maker_rows[i];

        if (group->reader != reader)
            continue;
        for (size_t row = 0; row < group->count; row++)
            assert_row(group, &group->rows[row]);
        count += group->count;
    }
    assert_true(count > 0);
}

static void
needs_are_as_they_may_be(void **state)
{
    (void)state;
    assert_rows_of(READER_OF_NEEDS);
}

static void
needs_of_wiring_are_as_they_may_be(void **state)
{
    (void)state;
    assert_rows_of(READER_OF_WIRING_NEEDS);
}

static void
verdicts_are_as_they_may_be(void **state)
{
    (void)state;
    assert_rows_of(READER_OF_VERDICT);
}

static void
results_are_as_they_may_be(void **state)
{
    (void)state;
    assert_rows_of(READER_OF_RESULT);
}

static void
wired_definitions_are_as_they_may_be(void **state)
{
    (void)state;
    assert_rows_of(READER_OF_WIRED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_are_as_they_may_be),
        cmocka_unit_test(needs_of_wiring_are_as_they_may_be),
        cmocka_unit_test(verdicts_are_as_they_may_be),
        cmocka_unit_test(results_are_as_they_may_be),
        cmocka_unit_test(wired_definitions_are_as_they_may_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
