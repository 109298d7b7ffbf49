/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and writing files that others may have put there: base/fs.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "unit.h"

/* --- opening ---------------------------------------------------------------------------
 */

static int
open_regular(void **state, const char *name)
{
    return fs_open_regular_beneath(unit_directory(state), name, NULL);
}

/* Asserts that the name leads to the file with the content "seed". */
static void
assert_opens(void **state, const char *name)
{
    cleanup_buffer struct buffer content = {0};
    cleanup_close int fd = open_regular(state, name);

    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fs_read_all(fd, 4, &content), 0);
    unit_assert_content(&content, "seed");
}

static void
opens_a_file_beneath_the_directory(void **state)
{
    unit_make_file(unit_directory(state), "a/b", 0644, "seed");
    assert_opens(state, "a/b");
    assert_opens(state, "a/../a/./b");
    assert_int_equal(open_regular(state, "a/c"), -ENOENT);
    assert_int_equal(open_regular(state, "a/b/c"), -ENOTDIR);
}

/* A mounted Kubernetes Secret: KEY -> ..data/KEY, ..data -> ..2026_03_01. */
static void
follows_links_that_stay_beneath(void **state)
{
    int dir = unit_directory(state);

    unit_make_file(dir, "..2026_03_01/key", 0644, "seed");
    unit_make_link(dir, "..data", "..2026_03_01");
    unit_make_link(dir, "key", "..data/key");
    assert_opens(state, "key");
}

static void
refuses_names_and_links_that_lead_out(void **state)
{
    int dir = unit_directory(state);

    unit_make_file(dir, "outside", 0644, "no");
    unit_make_directory(dir, "in", 0755);
    unit_make_link(dir, "in/absolute", "/etc/passwd");
    unit_make_link(dir, "in/relative", "../outside");
    unit_make_link(dir, "in/folder", "..");
    dir = openat(dir, "in", O_RDONLY | O_DIRECTORY);
    assert_int_equal(fs_open_beneath(dir, "absolute", 0), -EXDEV);
    assert_int_equal(fs_open_beneath(dir, "relative", 0), -EXDEV);
    assert_int_equal(fs_open_beneath(dir, "folder/outside", 0), -EXDEV);
    assert_int_equal(fs_open_beneath(dir, "../outside", 0), -EXDEV);
    assert_int_equal(fs_open_beneath(dir, "/etc/passwd", 0), -EXDEV);
    close(dir);
}

static void
opens_regular_files_alone(void **state)
{
    int dir = unit_directory(state);

    unit_make_directory(dir, "folder", 0755);
    assert_int_equal(mkfifoat(dir, "fifo", 0644), 0);
    unit_make_link(dir, "link", "fifo");
    /* An open that waits for a writer ends the test. */
    alarm(5);
    assert_int_equal(open_regular(state, "folder"), -EISDIR);
    assert_int_equal(open_regular(state, "fifo"), -EINVAL);
    assert_int_equal(open_regular(state, "link"), -EINVAL);
    alarm(0);
}

static void
tells_the_status_of_what_it_opened(void **state)
{
    struct stat status = {0};
    cleanup_close int fd = -1;

    unit_make_file(unit_directory(state), "file", 0640, "seed");
    fd = fs_open_regular_beneath(unit_directory(state), "file", &status);
    assert_true(fd >= 0);
    assert_int_equal(status.st_mode, S_IFREG | 0640);
    assert_int_equal(status.st_size, 4);
}

/* "/" is the root that is given, in absolute links, too. */
static void
keeps_links_below_another_root(void **state)
{
    int root = unit_directory(state);
    cleanup_close int dir = -1;
    cleanup_close int file = -1;

    unit_make_file(root, "srv/files/base.yaml", 0644, "seed");
    unit_make_link(root, "etc", "/srv");
    unit_make_link(root, "up", "../../../srv");
    dir = fs_open_directory_in_root(root, "/etc/files");
    assert_true(dir >= 0);
    file = openat(dir, "base.yaml", O_RDONLY);
    assert_true(file >= 0);
    close(dir);
    dir = fs_open_directory_in_root(root, "/up/files");
    assert_true(dir >= 0);
    assert_int_equal(fs_open_directory_in_root(root, "/srv/none"), -ENOENT);
    assert_int_equal(fs_open_directory_in_root(root, "/srv/files/base.yaml"), -ENOTDIR);
}

static void
a_directory_that_may_not_be_listed_is_opened_all_the_same(void **state)
{
    int root = unit_directory(state);
    cleanup_close int dir = -1;
    cleanup_close int file = -1;

    unit_make_file(root, "kept/file", 0644, "seed");
    assert_int_equal(fchmodat(root, "kept", 0111, 0), 0);
    unit_become_nobody(state);
    dir = fs_open_directory_in_root(root, "/kept");
    file = openat(dir, "file", O_RDONLY);
    unit_become_self();
    assert_int_equal(fchmodat(root, "kept", 0755, 0), 0);
    assert_true(dir >= 0);
    assert_true(file >= 0);
}

/* --- reading and writing ---------------------------------------------------------------
 */

static void
reads_up_to_the_limit(void **state)
{
    cleanup_buffer struct buffer content = {0};
    cleanup_close int fd = -1;

    unit_make_file(unit_directory(state), "file", 0644, "12345678");
    fd = open_regular(state, "file");
    buffer_append_string(&content, "0");
    assert_int_equal(fs_read_all(fd, 8, &content), 0);
    unit_assert_content(&content, "012345678");
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(fs_read_all(fd, 7, &content), -EFBIG);
}

static void
stops_reading_what_has_no_end(void **state)
{
    cleanup_buffer struct buffer content = {0};
    cleanup_close int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_int_equal(fs_read_all(fd, 1000000, &content), -EFBIG);
    assert_true(content.size <= 4000000);
}

/* A pipe takes 64 KiB at a time. */
static void
reads_and_writes_all_of_it_piece_by_piece(void **state)
{
    cleanup_buffer struct buffer sent = {0};
    cleanup_buffer struct buffer received = {0};
    int pipe_fds[2];
    pid_t child;

    (void)state;
    memset(buffer_reserve(&sent, 300000), 'x', 300000);
    sent.size = 300000;
    assert_int_equal(pipe(pipe_fds), 0);
    child = fork();
    if (child == 0)
        _exit(fs_write_all(pipe_fds[1], sent.data, sent.size) == 0 ? 0 : 1);
    close(pipe_fds[1]);
    assert_int_equal(fs_read_all(pipe_fds[0], sent.size, &received), 0);
    close(pipe_fds[0]);
    assert_int_equal(received.size, sent.size);
    assert_memory_equal(received.data, sent.data, sent.size);
}

static void
says_when_there_is_no_room(void **state)
{
    cleanup_close int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    (void)state;
    assert_int_equal(fs_write_all(fd, "seed", 4), -ENOSPC);
    assert_int_equal(fs_write_all(fd, "", 0), 0);
}

/* --- making directories ----------------------------------------------------------------
 */

static mode_t
mode_of(int dir, const char *path)
{
    struct stat status = {0};

    assert_int_equal(fstatat(dir, path, &status, AT_SYMLINK_NOFOLLOW), 0);
    return status.st_mode;
}

static void
makes_the_directories_that_are_missing(void **state)
{
    int root = unit_directory(state);
    cleanup_close int fd = -1;
    cleanup_close int again = -1;

    unit_make_directory(root, "run", 0700);
    fd = fs_make_directories(root, "/run/libvirt/virt-seed", 0711);
    assert_true(fd >= 0);
    assert_int_equal(mode_of(root, "run"), S_IFDIR | 0700);
    assert_int_equal(mode_of(root, "run/libvirt/virt-seed"), S_IFDIR | 0711);
    again = fs_make_directories(root, "run/libvirt/virt-seed", 0711);
    assert_true(again >= 0);
    assert_int_equal(fs_make_directories(root, "", 0711), -EINVAL);
}

static void
makes_no_directory_behind_a_link(void **state)
{
    int root = unit_directory(state);

    unit_make_directory(root, "elsewhere", 0755);
    unit_make_link(root, "link", "elsewhere");
    unit_make_file(root, "file", 0644, "");
    assert_true(fs_make_directories(root, "link/x", 0711) < 0);
    assert_true(fs_make_directories(root, "link", 0711) < 0);
    assert_int_equal(fs_make_directories(root, "file", 0711), -ENOTDIR);
    assert_int_equal(faccessat(root, "elsewhere/x", F_OK, 0), -1);
}

static void
follows_no_link_where_none_may_be(void **state)
{
    int dir = unit_directory(state);
    cleanup_close int fd = -1;

    unit_make_file(dir, "a/b", 0644, "seed");
    unit_make_link(dir, "link", "a/b");
    unit_make_link(dir, "c", "a");
    assert_int_equal(fs_open_strictly_beneath(dir, "link", 0), -ELOOP);
    assert_int_equal(fs_open_strictly_beneath(dir, "c/b", 0), -ELOOP);
    assert_int_equal(fs_open_strictly_beneath(dir, "../a/b", 0), -EXDEV);
    fd = fs_open_strictly_beneath(dir, "a/b", 0);
    assert_true(fd >= 0);
}

static void
removes_no_tree_that_is_too_deep(void **state)
{
    cleanup_buffer struct buffer path = {0};
    int dir = unit_directory(state);

    for (int i = 0; i <= LIMIT_TREE_DEPTH; i++) {
        buffer_append_string(&path, i > 0 ? "/a" : "a");
        assert_int_equal(mkdirat(dir, path.data, 0755), 0);
    }
    assert_int_equal(fs_remove_tree(dir, "a"), -ELOOP);
    assert_int_equal(unlinkat(dir, path.data, AT_REMOVEDIR), 0);
    assert_int_equal(fs_remove_tree(dir, "a"), 0);
}

static void
removes_a_tree_and_nothing_behind_its_links(void **state)
{
    int dir = unit_directory(state);

    unit_make_file(dir, "tree/a/b/c", 0644, "");
    unit_make_file(dir, "tree/d", 0444, "");
    unit_make_file(dir, "kept/file", 0644, "");
    unit_make_link(dir, "tree/a/link", "../../kept");
    assert_int_equal(fs_remove_tree(dir, "tree"), 0);
    assert_int_equal(faccessat(dir, "tree", F_OK, 0), -1);
    assert_int_equal(faccessat(dir, "kept/file", F_OK, 0), 0);
    assert_int_equal(fs_remove_tree(dir, "tree"), 0);
    unit_make_link(dir, "link", "kept");
    assert_int_equal(fs_remove_tree(dir, "link"), 0);
    assert_int_equal(faccessat(dir, "kept/file", F_OK, 0), 0);
}

/* --- files that appear whole ------------------------------------------------------ */

/* Writes `content` into a new temporary file for "seed.iso". */
static void
open_new(struct tmpfile *tmpfile, int dir, const char *content)
{
    assert_int_equal(tmpfile_open(tmpfile, dir, "seed.iso"), 0);
    assert_int_equal(fs_write_all(tmpfile->fd, content, strlen(content)), 0);
}

static void
a_new_file_is_next_to_its_target_and_closed_to_others(void **state)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    struct stat status;

    umask(0);
    open_new(&tmpfile, unit_directory(state), "new");
    assert_int_equal(strncmp(tmpfile.name, "seed.iso.new.", 13), 0);
    assert_int_equal(fstatat(unit_directory(state), tmpfile.name, &status, 0), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    assert_int_equal(fcntl(tmpfile.fd, F_GETFD), FD_CLOEXEC);
}

static void
a_published_file_replaces_its_target(void **state)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    cleanup_buffer struct buffer before = {0};
    cleanup_buffer struct buffer after = {0};
    int dir = unit_directory(state);

    unit_make_file(dir, "seed.iso", 0644, "old");
    open_new(&tmpfile, dir, "new");
    before = unit_read_file(dir, "seed.iso");
    unit_assert_content(&before, "old");
    assert_int_equal(tmpfile_publish(&tmpfile, "seed.iso"), 0);
    tmpfile_close(&tmpfile);
    after = unit_read_file(dir, "seed.iso");
    unit_assert_content(&after, "new");
    assert_int_equal(unit_count_entries(dir), 1);
}

static void
a_file_published_as_new_replaces_nothing(void **state)
{
    cleanup_buffer struct buffer content = {0};
    struct tmpfile first = TMPFILE_NONE;
    struct tmpfile second = TMPFILE_NONE;
    int dir = unit_directory(state);

    open_new(&first, dir, "first");
    open_new(&second, dir, "second");
    assert_int_equal(tmpfile_publish_new(&first, "seed.iso"), 0);
    assert_int_equal(tmpfile_publish_new(&second, "seed.iso"), -EEXIST);
    tmpfile_close(&first);
    tmpfile_close(&second);
    content = unit_read_file(dir, "seed.iso");
    unit_assert_content(&content, "first");
    assert_int_equal(unit_count_entries(dir), 1);
}

static void
a_file_that_is_not_published_is_removed(void **state)
{
    struct tmpfile tmpfile = TMPFILE_NONE;
    cleanup_buffer struct buffer content = {0};
    int dir = unit_directory(state);

    unit_make_file(dir, "seed.iso", 0644, "old");
    open_new(&tmpfile, dir, "half");
    tmpfile_close(&tmpfile);
    assert_int_equal(unit_count_entries(dir), 1);
    content = unit_read_file(dir, "seed.iso");
    unit_assert_content(&content, "old");
    assert_int_equal(tmpfile.fd, -1);
    /* Once more does no harm. */
    tmpfile_close(&tmpfile);
}

static void
a_file_that_cannot_be_published_is_removed(void **state)
{
    struct tmpfile tmpfile = TMPFILE_NONE;
    int dir = unit_directory(state);

    unit_make_directory(dir, "seed.iso", 0755);
    open_new(&tmpfile, dir, "new");
    assert_int_equal(tmpfile_publish(&tmpfile, "seed.iso"), -EISDIR);
    tmpfile_close(&tmpfile);
    assert_int_equal(unit_count_entries(dir), 1);
}

static void
two_new_files_may_have_one_target(void **state)
{
    cleanup_tmpfile struct tmpfile one = TMPFILE_NONE;
    cleanup_tmpfile struct tmpfile other = TMPFILE_NONE;

    open_new(&one, unit_directory(state), "one");
    open_new(&other, unit_directory(state), "other");
    assert_string_not_equal(one.name, other.name);
}

static void
says_why_a_new_file_cannot_be_made(void **state)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;

    assert_int_equal(tmpfile_open(&tmpfile, unit_directory(state), "none/seed.iso"),
                     -ENOENT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(opens_a_file_beneath_the_directory),
        unit_test_in_directory(follows_links_that_stay_beneath),
        unit_test_in_directory(refuses_names_and_links_that_lead_out),
        unit_test_in_directory(opens_regular_files_alone),
        unit_test_in_directory(tells_the_status_of_what_it_opened),
        unit_test_in_directory(keeps_links_below_another_root),
        unit_test_in_directory(a_directory_that_may_not_be_listed_is_opened_all_the_same),
        unit_test_in_directory(reads_up_to_the_limit),
        cmocka_unit_test(stops_reading_what_has_no_end),
        cmocka_unit_test(reads_and_writes_all_of_it_piece_by_piece),
        cmocka_unit_test(says_when_there_is_no_room),
        unit_test_in_directory(makes_the_directories_that_are_missing),
        unit_test_in_directory(makes_no_directory_behind_a_link),
        unit_test_in_directory(follows_no_link_where_none_may_be),
        unit_test_in_directory(removes_no_tree_that_is_too_deep),
        unit_test_in_directory(removes_a_tree_and_nothing_behind_its_links),
        unit_test_in_directory(a_new_file_is_next_to_its_target_and_closed_to_others),
        unit_test_in_directory(a_published_file_replaces_its_target),
        unit_test_in_directory(a_file_published_as_new_replaces_nothing),
        unit_test_in_directory(a_file_that_is_not_published_is_removed),
        unit_test_in_directory(a_file_that_cannot_be_published_is_removed),
        unit_test_in_directory(two_new_files_may_have_one_target),
        unit_test_in_directory(says_why_a_new_file_cannot_be_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
