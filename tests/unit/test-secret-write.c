/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding a secret to the host's: store/secret-write.h. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "store/secret-write.h"
#include "store/secret.h"
#include "unit.h"

/* The directory of the secrets, relative to the test's. */
static const char *const secrets = &SECRET_DIRECTORY[1];

static const struct domain web1 = {.name = (char *)"web1", .uuid = UNIT_UUID};

static int
write_key(void **state, const char *name, const char *key, const char *content,
          struct failure **failure)
{
    cleanup_buffer struct buffer buffer = {0};
    struct secret_key written = {.name = (char *)key};

    buffer_append_string(&buffer, content);
    written.content = buffer;
    return secret_write(unit_directory(state), name, &written, 1, failure);
}

static void
assert_holds(void **state, const char *key, const char *expected)
{
    const char *const keys[] = {key, NULL};
    cleanup_buffer struct buffer content = {0};
    struct failure *failure = NULL;

    secret_read(unit_directory(state), &web1, "web1", keys, &content, NULL, &failure);
    assert_no_failure(failure);
    unit_assert_content(&content, expected);
}

static void
what_is_written_can_be_read(void **state)
{
    cleanup_free char *longest = xcalloc(1, LIMIT_SECRET_NAME + 1);
    struct failure *failure = NULL;

    memset(longest, 'k', LIMIT_SECRET_NAME);
    write_key(state, "web1", "userdata", "hunter2", &failure);
    assert_no_failure(failure);
    write_key(state, "web1", "empty", "", &failure);
    assert_no_failure(failure);
    write_key(state, "web1", longest, "long", &failure);
    assert_no_failure(failure);
    assert_holds(state, "userdata", "hunter2");
    assert_holds(state, "empty", "");
    assert_holds(state, longest, "long");
}

static void
nothing_is_left_beside(void **state)
{
    cleanup_free char *path = xasprintf("%s/web1", secrets);
    struct failure *failure = NULL;
    cleanup_close int fd = -1;

    write_key(state, "web1", "userdata", "hunter2", &failure);
    assert_no_failure(failure);
    fd = openat(unit_directory(state), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(unit_count_entries(fd), 1);
}

static void
what_is_the_same_stays_and_what_differs_is_refused(void **state)
{
    struct failure *failure = NULL;

    write_key(state, "web1", "userdata", "hunter2", &failure);
    write_key(state, "web1", "userdata", "hunter2", &failure);
    assert_no_failure(failure);
    assert_int_equal(write_key(state, "web1", "userdata", "hunter3", &failure), -1);
    assert_null(strstr(failure->message, "hunter"));
    assert_failure(&failure, FAILURE_SECRET);
    assert_int_equal(write_key(state, "web1", "userdata", "", &failure), -1);
    assert_failure(&failure, FAILURE_SECRET);
    assert_holds(state, "userdata", "hunter2");
}

static void
refuses_names_that_lead_elsewhere(void **state)
{
    const char *const names[] = {"", ".", "..", "../x", "a/b", "..data", "a b"};
    struct failure *failure = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(write_key(state, names[i], "userdata", "x", &failure), -1);
        assert_failure(&failure, FAILURE_SECRET_NAME);
        assert_int_equal(write_key(state, "web1", names[i], "x", &failure), -1);
        assert_failure(&failure, FAILURE_SECRET_NAME);
    }
    assert_int_equal(write_key(state, "web1", "allow", "x", &failure), -1);
    assert_failure(&failure, FAILURE_SECRET_NAME);
    assert_int_equal(unit_count_entries(unit_directory(state)), 0);
}

static void
writes_nothing_below_what_is_open_to_others(void **state)
{
    struct failure *failure = NULL;

    unit_make_directory(unit_directory(state), secrets, 0755);
    assert_int_equal(write_key(state, "web1", "userdata", "x", &failure), -1);
    assert_failure(&failure, FAILURE_SECRET_MODE);
}

static void
compares_with_no_file_that_others_may_write(void **state)
{
    cleanup_free char *path = xasprintf("%s/web1/userdata", secrets);
    struct failure *failure = NULL;

    write_key(state, "web1", "userdata", "x", &failure);
    assert_no_failure(failure);
    assert_int_equal(fchmodat(unit_directory(state), path, 0644, 0), 0);
    assert_int_equal(write_key(state, "web1", "userdata", "x", &failure), -1);
    assert_failure(&failure, FAILURE_SECRET_MODE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(what_is_written_can_be_read),
        unit_test_in_directory(nothing_is_left_beside),
        unit_test_in_directory(what_is_the_same_stays_and_what_differs_is_refused),
        unit_test_in_directory(refuses_names_that_lead_elsewhere),
        unit_test_in_directory(writes_nothing_below_what_is_open_to_others),
        unit_test_in_directory(compares_with_no_file_that_others_may_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
