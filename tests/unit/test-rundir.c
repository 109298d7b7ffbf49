/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The run-time directory: host/rundir.h. */
#include "config.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/rundir.h"
#include "unit.h"

/* Relative to the test's directory. */
static const char *const path = &VIRT_SEED_RUNDIR[1];

static int
open_rundir(void **state)
{
    struct failure *failure = NULL;
    int fd = rundir_open(unit_directory(state), &failure);

    assert_no_failure(failure);
    assert_true(fd >= 0);
    return fd;
}

static void
assert_refuses(void **state)
{
    struct failure *failure = NULL;

    assert_int_equal(rundir_open(unit_directory(state), &failure), -1);
    assert_failure(&failure, FAILURE_RUNDIR);
}

/* --- opening ---------------------------------------------------------------------- */

static void
makes_the_directory_that_is_missing(void **state)
{
    cleanup_close int fd = open_rundir(state);
    struct stat status;

    assert_int_equal(fstatat(unit_directory(state), path, &status, 0), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0711);
    assert_int_equal(status.st_uid, geteuid());
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

static void
opens_the_directory_that_is_there(void **state)
{
    cleanup_close int first = open_rundir(state);
    cleanup_close int again = -1;

    unit_make_file(first, "kept", 0600, "");
    again = open_rundir(state);
    assert_int_equal(unit_count_entries(again), 1);
}

static void
refuses_a_link_in_its_place(void **state)
{
    int root = unit_directory(state);

    unit_make_directory(root, "elsewhere", 0711);
    unit_make_link(root, path, "/elsewhere");
    assert_refuses(state);
    assert_int_equal(unlinkat(root, path, 0), 0);
    unit_make_link(root, path, "elsewhere/that/is/not");
    assert_refuses(state);
    assert_int_equal(unlinkat(root, path, 0), 0);
    unit_make_file(root, path, 0600, "");
    assert_refuses(state);
}

static void
refuses_a_directory_that_others_may_write(void **state)
{
    const mode_t modes[] = {0720, 0702, 0777, 01777, 0775};

    unit_make_directory(unit_directory(state), path, 0711);
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        assert_int_equal(fchmodat(unit_directory(state), path, modes[i], 0), 0);
        assert_refuses(state);
    }
    assert_int_equal(fchmodat(unit_directory(state), path, 0755, 0), 0);
    close(open_rundir(state));
}

/* For root alone: an ordinary user cannot give directories away. */
static void
refuses_a_directory_that_belongs_to_another(void **state)
{
    if (geteuid() != 0)
        skip();
    unit_make_directory(unit_directory(state), path, 0711);
    assert_int_equal(fchownat(unit_directory(state), path, 1000, 0, 0), 0);
    assert_refuses(state);
}

/* --- the mark of a resumed start -------------------------------------------------- */

static void
mark(int rundir)
{
    struct failure *failure = NULL;

    rundir_mark_resume(rundir, "web1", &failure);
    assert_no_failure(failure);
}

static void
takes_the_mark_once(void **state)
{
    cleanup_close int rundir = open_rundir(state);

    assert_false(rundir_take_resume(rundir, "web1", UNIT_UUID));
    mark(rundir);
    mark(rundir);
    assert_false(rundir_take_resume(rundir, "web", UNIT_UUID));
    assert_false(rundir_take_resume(rundir, "web1\n", UNIT_UUID));
    assert_false(rundir_take_resume(rundir, "", UNIT_UUID));
    assert_true(rundir_take_resume(rundir, "web1", UNIT_UUID));
    assert_int_equal(unit_count_entries(rundir), 1);
    assert_false(rundir_take_resume(rundir, "web1", UNIT_UUID));
    assert_int_equal(unit_count_entries(rundir), 0);
}

static void
knows_later_that_the_guest_was_resumed(void **state)
{
    cleanup_close int rundir = open_rundir(state);

    assert_false(rundir_is_resumed(rundir, UNIT_UUID));
    mark(rundir);
    assert_false(rundir_is_resumed(rundir, UNIT_UUID));
    assert_true(rundir_take_resume(rundir, "web1", UNIT_UUID));
    assert_true(rundir_is_resumed(rundir, UNIT_UUID));
    assert_false(rundir_is_resumed(rundir, UNIT_OTHER_UUID));
    /* A cold boot follows, without a release. */
    assert_false(rundir_take_resume(rundir, "web1", UNIT_UUID));
    assert_false(rundir_is_resumed(rundir, UNIT_UUID));
}

/* Makes the mark so many seconds older. */
static void
age(int rundir, long long seconds)
{
    cleanup_buffer struct buffer content = unit_read_file(rundir, "resume:web1");
    cleanup_free char *text =
        xasprintf("%lld\n", strtoll(content.data, NULL, 10) - seconds);

    assert_int_equal(unlinkat(rundir, "resume:web1", 0), 0);
    unit_make_file(rundir, "resume:web1", 0600, text);
}

static void
forgets_a_mark_after_ten_seconds(void **state)
{
    cleanup_close int rundir = open_rundir(state);

    mark(rundir);
    age(rundir, 8);
    assert_true(rundir_take_resume(rundir, "web1", UNIT_UUID));
    mark(rundir);
    age(rundir, 10);
    assert_false(rundir_take_resume(rundir, "web1", UNIT_UUID));
    assert_int_equal(unit_count_entries(rundir), 0);
}

static void
assert_not_marked(int rundir, const char *domain)
{
    struct failure *failure = NULL;

    assert_int_equal(rundir_mark_resume(rundir, domain, &failure), -1);
    assert_failure(&failure, FAILURE_RUNDIR);
    assert_false(rundir_take_resume(rundir, domain, UNIT_UUID));
}

/* libvirt allows every name but one with a slash or a newline. */
static void
marks_names_with_odd_bytes_but_none_that_is_no_file_name(void **state)
{
    static const char *const names[] = {"-rf *", "..", "a b:c\t", "\xc3\xa4\xff",
                                        "resume:"};
    cleanup_close int rundir = open_rundir(state);
    cleanup_free char *long_name = xcalloc(251, 1);
    struct failure *failure = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        rundir_mark_resume(rundir, names[i], &failure);
        assert_no_failure(failure);
        assert_true(rundir_take_resume(rundir, names[i], UNIT_UUID));
    }
    assert_int_equal(unit_count_entries(rundir), 1);
    memset(long_name, 'x', 250);
    unit_make_directory(rundir, "resume:a", 0755);
    assert_not_marked(rundir, long_name);
    assert_not_marked(rundir, "a/b");
    assert_not_marked(rundir, "a/../b");
    assert_int_equal(unit_count_entries(rundir), 1);
}

/* The times of files are those of the host's clock. */
static void
does_not_ask_a_clock_that_is_set(void **state)
{
    const time_t times[] = {time(NULL) - 1000000000, time(NULL) + 1000000000};
    cleanup_close int rundir = open_rundir(state);

    for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
        const struct timespec of_file[2] = {{.tv_sec = times[i]}, {.tv_sec = times[i]}};

        mark(rundir);
        assert_int_equal(utimensat(rundir, "resume:web1", of_file, 0), 0);
        assert_true(rundir_take_resume(rundir, "web1", UNIT_UUID));
    }
}

static void
believes_no_mark_that_says_nothing_or_is_of_the_future(void **state)
{
    cleanup_close int rundir = open_rundir(state);

    mark(rundir);
    age(rundir, -3600);
    assert_false(rundir_take_resume(rundir, "web1", UNIT_UUID));
    unit_make_file(rundir, "resume:web1", 0600, "");
    assert_false(rundir_take_resume(rundir, "web1", UNIT_UUID));
    assert_int_equal(unit_count_entries(rundir), 0);
}

static void
follows_no_link_for_a_mark(void **state)
{
    cleanup_close int rundir = open_rundir(state);
    cleanup_buffer struct buffer content = {0};

    unit_make_file(unit_directory(state), "victim", 0600, "kept");
    unit_make_link(rundir, "resume:web1", "../../../victim");
    assert_false(rundir_take_resume(rundir, "web1", UNIT_UUID));
    unit_make_link(rundir, "resume:web1", "../../../victim");
    mark(rundir);
    assert_true(rundir_take_resume(rundir, "web1", UNIT_UUID));
    content = unit_read_file(unit_directory(state), "victim");
    unit_assert_content(&content, "kept");
}

/* --- for the emulator shim -------------------------------------------------------- */

#define LINK UNIT_UUID ".libvirt-" UNIT_UUID

static void
write_order(int rundir, const char *serial, bool report)
{
    struct failure *failure = NULL;

    rundir_write_shim_order(rundir, UNIT_UUID, serial, report, &failure);
    assert_no_failure(failure);
}

static void
writes_an_order_that_all_may_read(void **state)
{
    cleanup_close int rundir = open_rundir(state);
    cleanup_buffer struct buffer content = {0};
    cleanup_buffer struct buffer empty = {0};
    struct stat status;

    unit_make_file(rundir, UNIT_UUID ".iso", 0600, "seed");
    write_order(rundir, "ds=nocloud", false);
    content = unit_read_file(rundir, UNIT_UUID ".shim");
    unit_assert_content(&content, "ds=nocloud\n");
    assert_int_equal(fstatat(rundir, UNIT_UUID ".shim", &status, 0), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0644);
    write_order(rundir, "", true);
    empty = unit_read_file(rundir, UNIT_UUID ".shim");
    unit_assert_content(&empty, "\nreport\n");
    assert_int_equal(unit_count_entries(rundir), 3);
}

static void
gives_the_seed_its_second_name(void **state)
{
    cleanup_close int rundir = open_rundir(state);
    cleanup_buffer struct buffer first = {0};
    cleanup_buffer struct buffer second = {0};

    unit_make_file(rundir, UNIT_UUID ".iso", 0600, "seed");
    write_order(rundir, "", false);
    first = unit_read_file(rundir, LINK);
    unit_assert_content(&first, "seed");
    /* A seed that is published again is another file. */
    assert_int_equal(unlinkat(rundir, UNIT_UUID ".iso", 0), 0);
    unit_make_file(rundir, UNIT_UUID ".iso", 0600, "anew");
    write_order(rundir, "", false);
    second = unit_read_file(rundir, LINK);
    unit_assert_content(&second, "anew");
}

static void
follows_no_link_for_an_order(void **state)
{
    cleanup_close int rundir = open_rundir(state);
    cleanup_buffer struct buffer content = {0};

    unit_make_file(unit_directory(state), "victim", 0600, "kept");
    unit_make_file(rundir, UNIT_UUID ".iso", 0600, "seed");
    unit_make_link(rundir, UNIT_UUID ".shim", "../../../victim");
    unit_make_link(rundir, LINK, "../../../victim");
    write_order(rundir, "ds=nocloud", false);
    content = unit_read_file(unit_directory(state), "victim");
    unit_assert_content(&content, "kept");
}

static void
writes_no_order_without_a_seed(void **state)
{
    cleanup_close int rundir = open_rundir(state);
    struct failure *failure = NULL;

    assert_int_equal(rundir_write_shim_order(rundir, UNIT_UUID, "", false, &failure), -1);
    assert_failure(&failure, FAILURE_RUNDIR);
    assert_int_equal(unit_count_entries(rundir), 0);
}

/* --- removing --------------------------------------------------------------------- */

static void
removes_what_is_the_domains_alone(void **state)
{
    cleanup_close int rundir = open_rundir(state);
    struct failure *failure = NULL;

    unit_make_file(rundir, UNIT_UUID ".iso", 0600, "");
    unit_make_file(rundir, UNIT_UUID ".iso.new.0a1b2c3d", 0600, "");
    unit_make_file(rundir, UNIT_UUID ".resumed", 0600, "");
    write_order(rundir, "", false);
    unit_make_file(rundir, UNIT_OTHER_UUID ".iso", 0600, "");
    unit_make_file(rundir, "README", 0600, "");
    rundir_remove_seed(rundir, UNIT_UUID, &failure);
    assert_no_failure(failure);
    assert_true(rundir_is_resumed(rundir, UNIT_UUID));
    rundir_forget_resumed(rundir, UNIT_UUID, &failure);
    assert_no_failure(failure);
    assert_int_equal(unit_count_entries(rundir), 2);
    assert_int_equal(faccessat(rundir, UNIT_OTHER_UUID ".iso", F_OK, 0), 0);
    /* And once more, when there is nothing. */
    rundir_remove_seed(rundir, UNIT_UUID, &failure);
    assert_no_failure(failure);
}

static void
says_what_it_could_not_remove(void **state)
{
    cleanup_close int rundir = open_rundir(state);
    cleanup_failure struct failure *failure = NULL;

    unit_make_directory(rundir, UNIT_UUID ".d", 0700);
    unit_make_file(rundir, UNIT_UUID ".iso", 0600, "");
    assert_int_equal(rundir_remove_seed(rundir, UNIT_UUID, &failure), -1);
    assert_int_equal(failure->code, FAILURE_RUNDIR);
    /* The rest is gone nevertheless. */
    assert_int_equal(faccessat(rundir, UNIT_UUID ".iso", F_OK, 0), -1);
}

static void
names_the_seed_by_its_domain(void **state)
{
    cleanup_free char *name = rundir_seed_name(UNIT_UUID);

    (void)state;
    assert_string_equal(name, UNIT_UUID ".iso");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(makes_the_directory_that_is_missing),
        unit_test_in_directory(opens_the_directory_that_is_there),
        unit_test_in_directory(refuses_a_link_in_its_place),
        unit_test_in_directory(refuses_a_directory_that_others_may_write),
        unit_test_in_directory(refuses_a_directory_that_belongs_to_another),
        unit_test_in_directory(takes_the_mark_once),
        unit_test_in_directory(knows_later_that_the_guest_was_resumed),
        unit_test_in_directory(marks_names_with_odd_bytes_but_none_that_is_no_file_name),
        unit_test_in_directory(forgets_a_mark_after_ten_seconds),
        unit_test_in_directory(does_not_ask_a_clock_that_is_set),
        unit_test_in_directory(believes_no_mark_that_says_nothing_or_is_of_the_future),
        unit_test_in_directory(follows_no_link_for_a_mark),
        unit_test_in_directory(writes_an_order_that_all_may_read),
        unit_test_in_directory(gives_the_seed_its_second_name),
        unit_test_in_directory(follows_no_link_for_an_order),
        unit_test_in_directory(writes_no_order_without_a_seed),
        unit_test_in_directory(removes_what_is_the_domains_alone),
        unit_test_in_directory(says_what_it_could_not_remove),
        cmocka_unit_test(names_the_seed_by_its_domain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
