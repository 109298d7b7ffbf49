/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `wait` shows of a guest's errors: cli/progress.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "cli/progress.h"
#include "unit.h"

#define BOOT "0d1f5f3a-6a4b-4b5e-9a53-0b5c9d1f7a10"
#define OTHER_BOOT "7e0e9d0e-5d0f-4a5e-8a52-6d5b8f1c2b21"
/* A line of the report; errors of two stages, and the result where it is there. */
#define LINE_OF(boot, init, final, result)                                               \
    "{\"virt-seed\":1,\"boot\":\"" boot "\",\"status\":{\"v1\":{\"stage\":\"init\","     \
    "\"init\":{\"errors\":[" init "]},\"modules-final\":{\"errors\":[" final             \
    "]}}}" result "}\n"
#define LINE(init, final) LINE_OF(BOOT, init, final, "")
#define RESULT(errors) ",\"result\":{\"v1\":{\"errors\":[" errors "]}}"

/* Shows each line in turn. Return: the messages that were shown, a line each as "STAGE:
 * TEXT", owned by the caller (free). */
static char *
show(const char *const *lines)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    struct progress progress;
    FILE *file = tmpfile();
    int out = dup(STDOUT_FILENO);
    struct buffer text = {0};

    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    progress_open(&progress, PROGRESS_JSON, "web1", UNIT_UUID);
    for (; *lines; lines++) {
        bool news;

        /* Each is a line. */
        guest_report_feed(&report, *lines, strlen(*lines), &news);
        progress_show(&progress, &report);
    }
    progress_close(&progress);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(file);
    assert_int_equal(fs_read_all(fileno(file), MIB, &text), 0);
    fclose(file);
    return text.data ? text.data : xstrdup("");
}

/* Return: how often it was shown. */
static size_t
count(const char *shown, const char *stage, const char *message)
{
    cleanup_free char *members =
        xasprintf("\"stage\":%s,\"message\":\"%s\"", stage, message);
    size_t times = 0;

    while ((shown = strstr(shown, members))) {
        shown++;
        times++;
    }
    return times;
}

static void
an_error_that_comes_in_front_of_others_is_shown(void **state)
{
    static const char *const lines[] = {
        LINE("", "\"one\""),
        LINE("\"earlier\"", "\"one\""),
        LINE("\"earlier\"", "\"one\",\"two\""),
        NULL,
    };
    cleanup_free char *shown = show(lines);

    (void)state;
    assert_int_equal(count(shown, "\"init\"", "earlier"), 1);
    assert_int_equal(count(shown, "\"modules-final\"", "one"), 1);
    assert_int_equal(count(shown, "\"modules-final\"", "two"), 1);
}

static void
an_error_that_the_result_alone_has_is_shown(void **state)
{
    static const char *const lines[] = {
        LINE("", "\"one\""),
        LINE_OF(BOOT, "", "", RESULT("\"another\"")),
        NULL,
    };
    cleanup_free char *shown = show(lines);

    (void)state;
    assert_int_equal(count(shown, "null", "another"), 1);
    assert_int_equal(count(shown, "\"modules-final\"", "one"), 1);
}

static void
another_boot_shows_its_errors_once_more(void **state)
{
    static const char *const lines[] = {
        LINE("", "\"one\""),
        LINE_OF(OTHER_BOOT, "", "\"one\"", ""),
        LINE_OF(OTHER_BOOT, "", "\"one\"", RESULT("\"one\"")),
        NULL,
    };
    cleanup_free char *shown = show(lines);

    (void)state;
    assert_int_equal(count(shown, "\"modules-final\"", "one"), 2);
    assert_int_equal(count(shown, "null", "one"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_that_comes_in_front_of_others_is_shown),
        cmocka_unit_test(an_error_that_the_result_alone_has_is_shown),
        cmocka_unit_test(another_boot_shows_its_errors_once_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
