/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A domain's report, also while it grows or is renamed: host/report-file.h. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "host/report-file.h"
#include "store/guest-report.h"
#include "unit.h"

#define BOOT "0d1f5f3a-6a4b-4b5e-9a53-0b5c9d1f7a10"
#define OTHER_BOOT "7e0e9d0e-5d0f-4a5e-8a52-6d5b8f1c2b21"
#define LINE(boot, more)                                                                 \
    "{\"virt-seed\":1,\"boot\":\"" boot "\",\"status\":null" more "}\n"
#define RESULT ",\"result\":{\"v1\":{\"errors\":[]}}"

#define REPORT UNIT_UUID ".report"

/* Return: the path of the file below the test's directory, owned by the caller. */
static char *
path_of(const char *name)
{
    return xasprintf("%s/%s", &VIRT_SEED_REPORTDIR[1], name);
}

static void
make(void **state, const char *name, const char *content)
{
    cleanup_free char *path = path_of(name);

    unit_make_file(unit_directory(state), path, 0640, content);
}

static void
append(void **state, const char *name, const char *content)
{
    cleanup_free char *path = path_of(name);
    cleanup_close int fd =
        openat(unit_directory(state), path, O_WRONLY | O_APPEND | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(fs_write_all(fd, content, strlen(content)), 0);
}

static void
rename_to(void **state, const char *from, const char *to)
{
    cleanup_free char *old = path_of(from);
    cleanup_free char *new = path_of(to);

    assert_int_equal(renameat(unit_directory(state), old, unit_directory(state), new), 0);
}

static void
remove_file(void **state, const char *name)
{
    cleanup_free char *path = path_of(name);

    assert_int_equal(unlinkat(unit_directory(state), path, 0), 0);
}

/* What virtlogd does, with one copy. */
static void
rotate(void **state)
{
    rename_to(state, REPORT, REPORT ".0");
    make(state, REPORT, "");
}

static void
start(void **state, struct report_reader *reader)
{
    *reader = (struct report_reader){
        .root = unit_directory(state), .uuid = UNIT_UUID, .file = -1};
}

static void
close_reader(struct report_reader *reader)
{
    close_pointer(&reader->file);
}

#define cleanup_report_reader __attribute__((cleanup(close_reader)))

/* Asserts that this is what there is to read now. */
static void
assert_reads(struct report_reader *reader, const char *expected)
{
    cleanup_buffer struct buffer content = {0};
    struct failure *failure = NULL;
    char chunk[5];
    ssize_t count;

    while ((count = report_reader_read(reader, chunk, sizeof(chunk), &failure)) > 0)
        buffer_append(&content, chunk, (size_t)count);
    assert_no_failure(failure);
    unit_assert_content(&content, expected);
}

static void
assert_refuses(void **state, const char *reason)
{
    cleanup_report_reader struct report_reader reader;
    struct failure *failure = NULL;
    char chunk[5];

    start(state, &reader);
    unit_become_nobody(state);
    assert_int_equal(report_reader_read(&reader, chunk, sizeof(chunk), &failure), -1);
    unit_become_self();
    assert_non_null(strstr(failure->message, REPORT));
    assert_non_null(strstr(failure->message, reason));
    assert_failure(&failure, FAILURE_SYSTEM);
}

static void
without_a_file_there_is_nothing(void **state)
{
    cleanup_report_reader struct report_reader reader;

    start(state, &reader);
    assert_reads(&reader, "");
    make(state, UNIT_OTHER_UUID ".report", "another's");
    assert_reads(&reader, "");
    make(state, REPORT, "one");
    assert_reads(&reader, "one");
}

static void
reads_what_is_appended(void **state)
{
    cleanup_report_reader struct report_reader reader;

    start(state, &reader);
    make(state, REPORT, "one");
    assert_reads(&reader, "one");
    assert_reads(&reader, "");
    append(state, REPORT, " two");
    append(state, REPORT, " three");
    assert_reads(&reader, " two three");
}

static void
what_was_renamed_before_is_not_read(void **state)
{
    cleanup_report_reader struct report_reader reader;

    start(state, &reader);
    make(state, REPORT, "two");
    make(state, REPORT ".0", "one");
    assert_reads(&reader, "two");
}

static void
a_file_that_is_renamed_is_read_to_its_end(void **state)
{
    cleanup_report_reader struct report_reader reader;

    start(state, &reader);
    make(state, REPORT, "one");
    assert_reads(&reader, "one");
    append(state, REPORT, " two");
    rotate(state);
    append(state, REPORT, " three");
    assert_reads(&reader, " two three");
    rotate(state);
    assert_reads(&reader, "");
    append(state, REPORT, " four");
    assert_reads(&reader, " four");
}

static void
after_several_renames_at_once_the_newest_is_read(void **state)
{
    cleanup_report_reader struct report_reader reader;

    start(state, &reader);
    make(state, REPORT, "one");
    assert_reads(&reader, "one");
    append(state, REPORT, " two");
    rotate(state);
    append(state, REPORT, " never read");
    rotate(state);
    append(state, REPORT, " four");
    assert_reads(&reader, " two four");
}

static void
a_name_may_be_missing_while_virtlogd_renames(void **state)
{
    cleanup_report_reader struct report_reader reader;

    start(state, &reader);
    make(state, REPORT, "one");
    rename_to(state, REPORT, REPORT ".0");
    assert_reads(&reader, "");
    rename_to(state, REPORT ".0", REPORT);
    assert_reads(&reader, "one");
    rename_to(state, REPORT, REPORT ".0");
    assert_reads(&reader, "");
    make(state, REPORT, " two");
    assert_reads(&reader, " two");
}

static void
a_file_that_is_removed_is_read_to_its_end(void **state)
{
    cleanup_report_reader struct report_reader reader;

    start(state, &reader);
    make(state, REPORT, "one");
    assert_reads(&reader, "one");
    append(state, REPORT, " two");
    remove_file(state, REPORT);
    assert_reads(&reader, " two");
    make(state, REPORT, " three");
    assert_reads(&reader, " three");
}

static void
what_is_no_regular_file_is_refused(void **state)
{
    cleanup_free char *path = path_of(REPORT);

    make(state, "elsewhere", "somebody's");
    unit_make_link(unit_directory(state), path, "elsewhere");
    assert_refuses(state, "symbolic links");
    remove_file(state, REPORT);
    assert_int_equal(mkfifoat(unit_directory(state), path, 0644), 0);
    assert_refuses(state, "Invalid argument");
}

static void
who_may_not_read_it_is_told_who_may(void **state)
{
    cleanup_free char *path = path_of(REPORT);

    make(state, REPORT, "");
    assert_int_equal(fchmodat(unit_directory(state), path, 0, 0), 0);
    assert_refuses(state, "Permission denied");
}

/* --- all at once ------------------------------------------------------------------- */

static void
reads_all_boots_into_one_report(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    struct failure *failure = NULL;
    time_t written = -1;

    assert_int_equal(
        report_read(unit_directory(state), UNIT_UUID, &report, &written, &failure), 0);
    assert_int_equal(report.state, GUEST_STATE_NOTHING);
    assert_int_equal(written, 0);
    make(state, REPORT, LINE(BOOT, RESULT) LINE(OTHER_BOOT, "") "{\"virt-");
    assert_int_equal(
        report_read(unit_directory(state), UNIT_UUID, &report, &written, &failure), 0);
    assert_no_failure(failure);
    assert_string_equal(report.boot, OTHER_BOOT);
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
    assert_true(written > 0 && written <= time(NULL) + 1);
}

static void
of_much_the_newest_is_read(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_free char *path = path_of(REPORT);
    time_t written;
    struct failure *failure = NULL;

    make(state, REPORT, LINE(BOOT, RESULT));
    {
        cleanup_close int fd = openat(unit_directory(state), path, O_WRONLY | O_CLOEXEC);

        assert_int_equal(ftruncate(fd, LIMIT_REPORT_FILE), 0);
    }
    append(state, REPORT, "\n" LINE(OTHER_BOOT, RESULT));
    assert_int_equal(
        report_read(unit_directory(state), UNIT_UUID, &report, &written, &failure), 0);
    assert_no_failure(failure);
    assert_string_equal(report.boot, OTHER_BOOT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(without_a_file_there_is_nothing),
        unit_test_in_directory(reads_what_is_appended),
        unit_test_in_directory(what_was_renamed_before_is_not_read),
        unit_test_in_directory(a_file_that_is_renamed_is_read_to_its_end),
        unit_test_in_directory(after_several_renames_at_once_the_newest_is_read),
        unit_test_in_directory(a_name_may_be_missing_while_virtlogd_renames),
        unit_test_in_directory(a_file_that_is_removed_is_read_to_its_end),
        unit_test_in_directory(what_is_no_regular_file_is_refused),
        unit_test_in_directory(who_may_not_read_it_is_told_who_may),
        unit_test_in_directory(reads_all_boots_into_one_report),
        unit_test_in_directory(of_much_the_newest_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
