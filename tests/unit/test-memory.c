/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has an owner, and arrays that grow: base/memory.h. */
#include "config.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "unit.h"

struct element {
    int number;
    const char *text;
};

static void
adds_elements_that_are_zeroed(void **state)
{
    cleanup_free struct element *list = NULL;
    size_t count = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        struct element *added = array_add(list, count);

        assert_ptr_equal(added, &list[i]);
        assert_int_equal(added->number, 0);
        assert_null(added->text);
        *added = (struct element){i, "x"};
    }
    assert_int_equal(count, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(list[i].number, i);
}

/* Return: the signal that ends a process that adds to an array of so many, or 0. */
static int
grow_at(size_t count)
{
    const struct rlimit none = {0, 0};
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        setrlimit(RLIMIT_CORE, &none);
        free(array_grow(NULL, count, 8));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void
aborts_where_a_size_would_overflow(void **state)
{
    (void)state;
    assert_int_equal(grow_at(0), 0);
    assert_int_equal(grow_at(SIZE_MAX), SIGABRT);
    assert_int_equal(grow_at(SIZE_MAX / 8), SIGABRT);
}

static void
quotes_a_word_of_a_shell_that_needs_it(void **state)
{
    static const char *const words[][2] = {
        {"/srv/a_b-c.d", "/srv/a_b-c.d"},
        {"", "''"},
        {"a b", "'a b'"},
        {"$(x)", "'$(x)'"},
        {"it's", "'it'\\''s'"},
        {"''", "''\\'''\\'''"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        cleanup_free char *quoted = xshellquote(words[i][0]);

        assert_string_equal(quoted, words[i][1]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_elements_that_are_zeroed),
        cmocka_unit_test(aborts_where_a_size_would_overflow),
        cmocka_unit_test(quotes_a_word_of_a_shell_that_needs_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
