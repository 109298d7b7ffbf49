/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that appears under its name whole or not at all: base/fs.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "unit.h"

/* Writes `content` into a new temporary file for "seed.iso". */
static void
open_and_write(struct tmpfile *tmpfile, int dir, const char *content)
{
    assert_int_equal(tmpfile_open(tmpfile, dir, "seed.iso"), 0);
    assert_int_equal(fs_write_all(tmpfile->fd, content, strlen(content)), 0);
}

static void
is_beside_the_target_and_closed_to_others(void **state)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    struct stat status;

    umask(0);
    open_and_write(&tmpfile, unit_directory(state), "new");
    assert_int_equal(strncmp(tmpfile.name, "seed.iso.new.", 13), 0);
    assert_int_equal(fstatat(unit_directory(state), tmpfile.name, &status, 0), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    assert_int_equal(fcntl(tmpfile.fd, F_GETFD), FD_CLOEXEC);
}

static void
takes_the_place_of_the_target_when_published(void **state)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    cleanup_buffer struct buffer before = {0};
    cleanup_buffer struct buffer after = {0};
    int dir = unit_directory(state);

    unit_make_file(dir, "seed.iso", 0644, "old");
    open_and_write(&tmpfile, dir, "new");
    before = unit_read_file(dir, "seed.iso");
    unit_assert_content(&before, "old");
    assert_int_equal(tmpfile_publish(&tmpfile, "seed.iso"), 0);
    tmpfile_close(&tmpfile);
    after = unit_read_file(dir, "seed.iso");
    unit_assert_content(&after, "new");
    assert_int_equal(unit_count_entries(dir), 1);
}

static void
takes_no_place_that_is_taken_when_published_as_new(void **state)
{
    cleanup_buffer struct buffer content = {0};
    struct tmpfile first = TMPFILE_NONE;
    struct tmpfile second = TMPFILE_NONE;
    int dir = unit_directory(state);

    open_and_write(&first, dir, "first");
    open_and_write(&second, dir, "second");
    assert_int_equal(tmpfile_publish_new(&first, "seed.iso"), 0);
    assert_int_equal(tmpfile_publish_new(&second, "seed.iso"), -EEXIST);
    tmpfile_close(&first);
    tmpfile_close(&second);
    content = unit_read_file(dir, "seed.iso");
    unit_assert_content(&content, "first");
    assert_int_equal(unit_count_entries(dir), 1);
}

static void
is_removed_when_it_was_not_published(void **state)
{
    struct tmpfile tmpfile = TMPFILE_NONE;
    cleanup_buffer struct buffer content = {0};
    int dir = unit_directory(state);

    unit_make_file(dir, "seed.iso", 0644, "old");
    open_and_write(&tmpfile, dir, "half");
    tmpfile_close(&tmpfile);
    assert_int_equal(unit_count_entries(dir), 1);
    content = unit_read_file(dir, "seed.iso");
    unit_assert_content(&content, "old");
    assert_int_equal(tmpfile.fd, -1);
    /* Once more does no harm. */
    tmpfile_close(&tmpfile);
}

static void
is_removed_when_it_could_not_be_published(void **state)
{
    struct tmpfile tmpfile = TMPFILE_NONE;
    int dir = unit_directory(state);

    unit_make_directory(dir, "seed.iso", 0755);
    open_and_write(&tmpfile, dir, "new");
    assert_int_equal(tmpfile_publish(&tmpfile, "seed.iso"), -EISDIR);
    tmpfile_close(&tmpfile);
    assert_int_equal(unit_count_entries(dir), 1);
}

static void
stands_beside_another_of_the_same_target(void **state)
{
    cleanup_tmpfile struct tmpfile one = TMPFILE_NONE;
    cleanup_tmpfile struct tmpfile other = TMPFILE_NONE;

    open_and_write(&one, unit_directory(state), "one");
    open_and_write(&other, unit_directory(state), "other");
    assert_string_not_equal(one.name, other.name);
}

static void
says_why_it_could_not_be_made(void **state)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;

    assert_int_equal(tmpfile_open(&tmpfile, unit_directory(state), "none/seed.iso"),
                     -ENOENT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(is_beside_the_target_and_closed_to_others),
        unit_test_in_directory(takes_the_place_of_the_target_when_published),
        unit_test_in_directory(takes_no_place_that_is_taken_when_published_as_new),
        unit_test_in_directory(is_removed_when_it_was_not_published),
        unit_test_in_directory(is_removed_when_it_could_not_be_published),
        unit_test_in_directory(stands_beside_another_of_the_same_target),
        unit_test_in_directory(says_why_it_could_not_be_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
