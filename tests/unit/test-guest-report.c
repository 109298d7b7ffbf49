/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest says of its boot: store/guest-report.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/guest-report.h"
#include "unit.h"

#define BOOT "0d1f5f3a-6a4b-4b5e-9a53-0b5c9d1f7a10"
#define OTHER_BOOT "7e0e9d0e-5d0f-4a5e-8a52-6d5b8f1c2b21"
#define DATASOURCE "DataSourceNoCloud [seed=/dev/sr0][dsmode=net]"

/* The line of a boot, with the members that follow "boot". */
#define LINE_OF(boot, members) "{\"virt-seed\":1,\"boot\":\"" boot "\"," members "}\n"
#define LINE(members) LINE_OF(BOOT, members)
#define STATUS(members) "\"status\":{\"v1\":{" members "}}"
#define RESULT(errors)                                                                   \
    "\"result\":{\"v1\":{\"datasource\":\"" DATASOURCE "\",\"errors\":[" errors "]}}"

/* What cloud-init 22.4 writes while its second stage runs. */
#define INIT_RUNS                                                                        \
    STATUS("\"datasource\":null,"                                                        \
           "\"init\":{\"errors\":[],\"finished\":null,\"start\":1795.5},"                \
           "\"init-local\":{\"errors\":[],\"finished\":1794.25,\"start\":1793.0},"       \
           "\"modules-config\":{\"errors\":[],\"finished\":null,\"start\":null},"        \
           "\"modules-final\":{\"errors\":[],\"finished\":null,\"start\":null},"         \
           "\"modules-init\":{\"errors\":[],\"finished\":null,\"start\":null},"          \
           "\"stage\":\"init\"")
#define FINISHED(final)                                                                  \
    STATUS("\"datasource\":\"" DATASOURCE "\","                                          \
           "\"modules-final\":{" final "\"finished\":1800.5,\"start\":1799},"            \
           "\"stage\":null")

static const char done[] = LINE(FINISHED("\"errors\":[],") "," RESULT(""));
static const char runs[] = LINE(INIT_RUNS);

/* Return: how many lines counted. */
static size_t
feed_all(struct guest_report *report, const char *data, size_t size)
{
    size_t count = 0;

    while (size > 0) {
        bool news;
        size_t taken = guest_report_feed(report, data, size, &news);

        count += news;
        data += taken;
        size -= taken;
    }
    return count;
}

static size_t
feed_text(struct guest_report *report, const char *text)
{
    return feed_all(report, text, strlen(text));
}

static void
assert_ignored(const char *line)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    assert_int_equal(feed_text(&report, line), 0);
    assert_int_equal(report.state, GUEST_STATE_NOTHING);
    /* And the one after it is read. */
    assert_int_equal(feed_text(&report, done), 1);
    assert_int_equal(report.state, GUEST_STATE_DONE);
}

/* --- what a guest that means well says --------------------------------------------- */

static void
begins_with_nothing(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(feed_text(&report, "\n\n"), 0);
    assert_int_equal(report.state, GUEST_STATE_NOTHING);
    assert_int_equal(report.stage, GUEST_STAGE_NONE);
    assert_int_equal(guest_report_last_stage(&report), GUEST_STAGE_NONE);
}

static void
reads_the_stage_that_runs(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    const struct guest_stage_times *local = &report.stages[GUEST_STAGE_INIT_LOCAL];
    const struct guest_stage_times *init = &report.stages[GUEST_STAGE_INIT];

    (void)state;
    assert_int_equal(feed_text(&report, runs), 1);
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
    assert_string_equal(report.boot, BOOT);
    assert_int_equal(report.stage, GUEST_STAGE_INIT);
    assert_int_equal(guest_report_last_stage(&report), GUEST_STAGE_INIT);
    assert_true(local->started && local->finished);
    assert_true(local->finish - local->start == 1.25);
    assert_true(init->started && !init->finished);
    assert_false(report.stages[GUEST_STAGE_MODULES_FINAL].started);
    assert_null(report.datasource);
    assert_int_equal(report.errors.count, 0);
    assert_false(guest_state_is_end(report.state));
}

static void
a_result_without_errors_is_done(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(feed_text(&report, runs), 1);
    assert_int_equal(feed_text(&report, done), 1);
    assert_int_equal(report.state, GUEST_STATE_DONE);
    assert_string_equal(report.datasource, DATASOURCE);
    assert_true(guest_state_is_end(report.state));
    assert_int_equal(guest_report_last_stage(&report), GUEST_STAGE_MODULES_FINAL);
}

static void
reads_what_the_guest_has_taken(void **state)
{
    static const char digest[] =
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_free char *line = xasprintf(
        "{\"virt-seed\":1,\"boot\":\"" BOOT "\",\"taken\":{\"version\":"
        "\"25.1.4\",\"instance-id\":\"one\\u001b[31m\",\"new\":true,\"documents\":"
        "{\"user-data\":\"%s\",\"vendor-data\":7,\"network-config\":\"x\"},"
        "\"first\":[\"%s\"]}," INIT_RUNS "}\n",
        digest, digest);
    const struct guest_claim *claim = &report.claim;

    (void)state;
    assert_int_equal(feed_text(&report, line), 1);
    assert_string_equal(claim->version, "25.1.4");
    assert_string_equal(claim->instance_id, "one?[31m");
    assert_true(claim->is_new);
    assert_string_equal(claim->documents[KEPT_USER_DATA], digest);
    for (int i = 0; i < KEPT_COUNT; i++) {
        assert_true(i == KEPT_USER_DATA || !claim->documents[i]);
        assert_null(claim->first[i]);
    }
    /* A line without it says nothing of it, and keeps nothing of the last one. */
    assert_int_equal(feed_text(&report, runs), 1);
    assert_null(claim->version);
    assert_null(claim->instance_id);
    assert_false(claim->is_new);
    assert_null(claim->documents[KEPT_USER_DATA]);
}

static void
reads_what_has_failed(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report,
              LINE(FINISHED("\"errors\":[],") "," RESULT(
                  "\"one\"") ",\"failed\":{\"module\":\"runcmd\",\"log\":\"\"}"));
    assert_int_equal(report.state, GUEST_STATE_FAILED);
    assert_string_equal(report.claim.failed_module, "runcmd");
    assert_null(report.claim.failed_log);
}

#define KEY                                                                              \
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKCjKdT+G6sCVEJOJdgcvTB6oS0eRLE6vgLzFLEmGoM+"

static void
reads_how_to_log_in(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    const struct guest_login *login = &report.claim.login;

    (void)state;
    feed_text(
        &report,
        LINE(FINISHED("\"errors\":[],") "," RESULT(
            "") ",\"login\":{\"user\":\"debian\","
                "\"host-keys\":[\"" KEY "\",\"" KEY "\"],\"addresses\":["
                "{\"nic\":\"ens3\",\"mac\":\"52:54:00:00:00:01\",\"address\":\"192.0.2.7\"},"
                "{\"nic\":\"ens3\",\"mac\":\"52:54:00:00:00:01\",\"address\":\"FD00:0::7\"}]}"));
    assert_string_equal(login->user, "debian");
    assert_int_equal(login->host_key_count, 1);
    assert_string_equal(login->host_keys[0], KEY);
    assert_int_equal(login->address_count, 2);
    assert_string_equal(login->addresses[0].nic, "ens3");
    assert_string_equal(login->addresses[0].mac, "52:54:00:00:00:01");
    assert_string_equal(login->addresses[0].address, "192.0.2.7");
    assert_string_equal(login->addresses[1].address, "fd00::7");
    /* An older reporter says nothing of it. */
    feed_text(&report, done);
    assert_null(login->user);
    assert_int_equal(login->host_key_count + login->address_count, 0);
}

#define ADDRESS(nic, mac, address)                                                       \
    "{\"addresses\":[{\"nic\":\"" nic "\",\"mac\":\"" mac "\",\"address\":\"" address    \
    "\"}]}"
#define MAC "52:54:00:00:00:01"

static void
a_hostile_login_is_left_out(void **state)
{
    static const char *const logins[] = {
        "7",
        "[]",
        "{\"user\":7,\"host-keys\":7,\"addresses\":7}",
        "{\"user\":\"-oProxyCommand=id\"}",
        "{\"user\":\"a b\"}",
        "{\"user\":\"a\\u0000b\"}",
        "{\"user\":\"\"}",
        "{\"addresses\":[7,{},[],{\"address\":\"192.0.2.7\"}]}",
        ADDRESS("ens3", MAC, "-oProxyCommand=id"),
        ADDRESS("ens3", MAC, "127.0.0.1"),
        ADDRESS("ens3", MAC, "169.254.1.1"),
        ADDRESS("ens3", MAC, "0.0.0.0"),
        ADDRESS("ens3", MAC, "224.0.0.1"),
        ADDRESS("ens3", MAC, "::1"),
        ADDRESS("ens3", MAC, "fe80::1"),
        ADDRESS("ens3", MAC, "fe80::1%eth0"),
        ADDRESS("ens3", MAC, "::ffff:127.0.0.1"),
        ADDRESS("ens3", MAC, "ff02::1"),
        ADDRESS("ens3", MAC, "192.0.2.7\\n"),
        ADDRESS("ens3", "52:54", "192.0.2.7"),
        ADDRESS("", MAC, "192.0.2.7"),
        ADDRESS("a\\u001b", MAC, "192.0.2.7"),
        ADDRESS("a-name-too-long-", MAC, "192.0.2.7"),
        "{\"host-keys\":[7,\"\",\"ssh-rsa\",\"ssh-rsa \",\"ssh-rsa AAAA junk\"]}",
        /* Of another algorithm than it says, with a comment, a line or an option more. */
        "{\"host-keys\":[\"ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA==\"]}",
        "{\"host-keys\":[\"" KEY " a\"]}",
        "{\"host-keys\":[\"" KEY "\\n* " KEY "\"]}",
        "{\"host-keys\":[\"@cert-authority " KEY "\"]}",
        "{\"host-keys\":[\"ssh-dss AAAAB3NzaC1kc3M=\"]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(logins); i++) {
        cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
        const struct guest_login *login = &report.claim.login;
        cleanup_free char *text =
            xasprintf("{\"virt-seed\":1,\"boot\":\"" BOOT "\",\"status\":null,\"result\":"
                      "{\"v1\":{}},\"login\":%s}\n",
                      logins[i]);

        assert_int_equal(feed_text(&report, text), 1);
        assert_null(login->user);
        assert_int_equal(login->host_key_count, 0);
        assert_int_equal(login->address_count, 0);
    }
}

static void
logins_are_bounded(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_buffer struct buffer line = {0};

    (void)state;
    buffer_append_string(&line, "{\"virt-seed\":1,\"boot\":\"" BOOT
                                "\",\"status\":null,\"login\":{\"addresses\":[null");
    for (int i = 0; i < 1000; i++)
        buffer_printf(&line,
                      ",{\"nic\":\"a\",\"mac\":\"" MAC "\",\"address\":\"10.0.%d.%d\"}",
                      i / 100, i % 100);
    buffer_append_string(&line, "]}}\n");
    assert_int_equal(feed_all(&report, line.data, line.size), 1);
    assert_int_equal(report.claim.login.address_count, LIMIT_REPORT_ADDRESSES - 1);
}

/* The claim of the last line with these drops, and how the boot has ended. */
static void
reads_what_was_dropped(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    const struct guest_claim *claim = &report.claim;

    (void)state;
    /* It is an error once, and the warning that repeats it is none. */
    feed_text(
        &report,
        LINE(FINISHED(
            "\"errors\":[],\"recoverable_errors\":{\"WARNING\":[\"gone\","
            "\"other\"]},") "," RESULT("") ",\"then\":\"reboot\",\"dropped\":"
                                           "[\"user-data: gone\",\"user-data: gone\"]"));
    assert_int_equal(report.state, GUEST_STATE_FAILED);
    assert_int_equal(claim->dropped_count, 1);
    assert_string_equal(claim->dropped[0], "user-data: gone");
    assert_int_equal(report.errors.count, 1);
    assert_string_equal(report.errors.list[0].text, "user-data: gone");
    assert_int_equal(report.warnings.count, 1);
    assert_string_equal(report.warnings.list[0].text, "other");
    assert_string_equal(report.then, "reboot");
    /* Another line without it keeps nothing of that. */
    feed_text(&report, done);
    assert_int_equal(report.state, GUEST_STATE_DONE);
    assert_int_equal(claim->dropped_count, 0);
    assert_null(report.then);
}

static void
hostile_drops_are_bounded_and_safe_to_show(void **state)
{
    static const char *const none[] = {
        "null", "7", "{\"user-data\":\"gone\"}", "\"gone\"", "[]", "[7,null,[],\"\"]",
    };
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_buffer struct buffer line = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
        cleanup_guest_report struct guest_report other = GUEST_REPORT_EMPTY;
        cleanup_free char *text =
            xasprintf("{\"virt-seed\":1,\"boot\":\"" BOOT "\",\"status\":null,\"result\":"
                      "{\"v1\":{}},\"then\":\"explode\",\"dropped\":%s}\n",
                      none[i]);

        assert_int_equal(feed_text(&other, text), 1);
        assert_int_equal(other.state, GUEST_STATE_DONE);
        assert_null(other.then);
    }
    buffer_append_string(&line, "{\"virt-seed\":1,\"boot\":\"" BOOT
                                "\",\"status\":null,\"dropped\":[\"a\\u001b\\n\\u202e\"");
    for (int i = 0; i < 2 * LIMIT_REPORT_DROPPED; i++) {
        cleanup_free char *text = xasprintf(",\"%d%*d\"", i, LIMIT_REPORT_TEXT, i);

        buffer_append_string(&line, text);
    }
    buffer_append_string(&line, "]}\n");
    buffer_append(&line, "", 1);
    assert_int_equal(feed_text(&report, line.data), 1);
    assert_int_equal(report.claim.dropped_count, LIMIT_REPORT_DROPPED);
    for (int i = 0; i < LIMIT_REPORT_DROPPED; i++) {
        assert_true(strlen(report.claim.dropped[i]) <= LIMIT_REPORT_TEXT);
        assert_null(strpbrk(report.claim.dropped[i], "\033\n"));
    }
}

static void
a_result_with_errors_is_failed(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report, LINE(FINISHED("\"errors\":[\"one\"],") "," RESULT(
                           "\"one\",\"('scripts_user', RuntimeError('1 failed'))\"")));
    assert_int_equal(report.state, GUEST_STATE_FAILED);
    assert_int_equal(report.errors.count, 2);
    /* The stage is known from the status, and the result adds what is not there. */
    assert_string_equal(report.errors.list[0].text, "one");
    assert_int_equal(report.errors.list[0].stage, GUEST_STAGE_MODULES_FINAL);
    assert_string_equal(report.errors.list[1].text,
                        "('scripts_user', RuntimeError('1 failed'))");
    assert_int_equal(report.errors.list[1].stage, GUEST_STAGE_NONE);
}

static void
the_last_stage_that_has_finished_is_the_end(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(feed_text(&report, LINE(FINISHED("\"errors\":[\"one\"],"))), 1);
    assert_int_equal(report.state, GUEST_STATE_FAILED);
    assert_int_equal(feed_text(&report, LINE(FINISHED(""))), 0);
    assert_int_equal(report.state, GUEST_STATE_FAILED);
}

static void
a_stage_that_runs_once_more_is_no_end(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report,
              LINE(STATUS("\"modules-final\":{\"finished\":1800.5,\"start\":1900},"
                          "\"stage\":\"modules-final\"")));
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
}

static void
an_old_status_behind_the_result_is_left_out(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report, done);
    assert_int_equal(feed_text(&report, runs), 0);
    assert_int_equal(report.state, GUEST_STATE_DONE);
}

static void
a_status_that_is_not_there_yet_is_the_beginning_of_a_boot(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(feed_text(&report, done), 1);
    assert_int_equal(feed_text(&report, LINE_OF(OTHER_BOOT, "\"status\":null")), 1);
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
    assert_int_equal(
        feed_text(&report, LINE_OF(OTHER_BOOT, "\"status\":null," RESULT(""))), 1);
    assert_int_equal(report.state, GUEST_STATE_DONE);
}

static void
an_error_is_known_while_the_boot_goes_on(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report, LINE(STATUS("\"init\":{\"errors\":[\"no network\"],"
                                   "\"finished\":3,\"start\":1},\"stage\":null")));
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
    assert_int_equal(report.errors.count, 1);
    assert_int_equal(report.errors.list[0].stage, GUEST_STAGE_INIT);
}

static void
recoverable_errors_are_warnings(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(
        &report,
        LINE(FINISHED(
            "\"errors\":[],\"recoverable_errors\":"
            "{\"WARNING\":[\"a\",\"b\"],\"DEPRECATED\":[\"c\"]},") ","
                                                                   "\"result\":{\"v1\":{\"datasource\":null,\"errors\":[],"
                                                                   "\"recoverable_errors\":{\"WARNING\":[\"a\",\"b\",\"d\"]}}}"));
    assert_int_equal(report.state, GUEST_STATE_DONE);
    assert_int_equal(report.errors.count, 0);
    assert_int_equal(report.warnings.count, 4);
    assert_int_equal(report.warnings.list[0].stage, GUEST_STAGE_MODULES_FINAL);
    assert_string_equal(report.warnings.list[3].text, "d");
    assert_string_equal(report.datasource, DATASOURCE);
}

static void
another_boot_starts_over(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report, LINE(FINISHED("\"errors\":[\"one\"],")));
    assert_int_equal(feed_text(&report, LINE_OF(OTHER_BOOT, INIT_RUNS)), 1);
    assert_string_equal(report.boot, OTHER_BOOT);
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
    assert_int_equal(report.errors.count, 0);
    assert_null(report.datasource);
    assert_false(report.stages[GUEST_STAGE_MODULES_FINAL].started);
}

static void
lines_may_come_in_any_pieces(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_free char *text = xasprintf("%s%s", runs, done);
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < strlen(text); i++)
        count += feed_all(&report, text + i, 1);
    assert_int_equal(count, 2);
    assert_int_equal(report.state, GUEST_STATE_DONE);
}

static void
a_torn_last_line_does_not_count(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report, runs);
    assert_int_equal(feed_all(&report, done, strlen(done) - 1), 0);
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
    /* The guest was reset, and the next boot begins in the middle of the line. */
    assert_int_equal(feed_text(&report, LINE_OF(OTHER_BOOT, INIT_RUNS)), 0);
    assert_int_equal(feed_text(&report, LINE_OF(OTHER_BOOT, INIT_RUNS)), 1);
}

static void
members_of_later_versions_are_no_matter(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(
        feed_text(&report,
                  LINE("\"future\":{\"a\":[1,2]}," STATUS(
                      "\"modules-extra\":{\"start\":1},\"stage\":\"modules-extra\","
                      "\"init\":{\"start\":12,\"finished\":null,\"x\":[]}"))),
        1);
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
    assert_int_equal(report.stage, GUEST_STAGE_NONE);
    assert_true(report.stages[GUEST_STAGE_INIT].started);
}

/* --- what one that means harm says ------------------------------------------------- */

static void
lines_that_are_none_are_left_out(void **state)
{
    static const char *const lines[] = {
        "hello\n",
        "{\n",
        "null\n",
        "[1]\n",
        "{}\n",
        "\xff\xfe\x01\x02\n",
        "{\"virt-seed\":1,\"boot\":\"" BOOT "\"}\n",
        "{\"virt-seed\":2,\"boot\":\"" BOOT "\"," INIT_RUNS "}\n",
        "{\"virt-seed\":\"1\",\"boot\":\"" BOOT "\"," INIT_RUNS "}\n",
        "{\"virt-seed\":1,\"boot\":\"1\"," INIT_RUNS "}\n",
        "{\"virt-seed\":1,\"boot\":7," INIT_RUNS "}\n",
        "{\"virt-seed\":1,\"boot\":\"" BOOT "x\"," INIT_RUNS "}\n",
        "{\"virt-seed\":1," INIT_RUNS "}\n",
        LINE("\"status\":{\"v1\":[]}"),
        LINE("\"status\":1"),
        LINE(INIT_RUNS ",\"result\":{}"),
        LINE(INIT_RUNS ",\"result\":\"done\""),
        LINE(INIT_RUNS "} {"),
        "\033]0;owned\007\033[2J\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        assert_ignored(lines[i]);
}

static void
a_key_that_stands_twice_makes_it_none(void **state)
{
    (void)state;
    assert_ignored(LINE(INIT_RUNS "," INIT_RUNS));
    assert_ignored(LINE(STATUS("\"stage\":null,\"stage\":\"init\"")));
}

static void
a_nul_makes_it_none(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(feed_all(&report, "{\"virt-seed\":1\0}\n", 17), 0);
    assert_int_equal(feed_all(&report, "\0\0\0\n", 4), 0);
    assert_int_equal(feed_text(&report, done), 1);
}

static void
numbers_out_of_range_make_it_none(void **state)
{
    (void)state;
    assert_ignored(LINE(STATUS("\"init\":{\"start\":1e999}")));
    assert_ignored(LINE(STATUS("\"init\":{\"start\":NaN}")));
    assert_ignored(LINE(STATUS("\"init\":{\"start\":99999999999999999999999}")));
}

static void
absurd_times_are_no_times(void **state)
{
    static const char *const times[] = {"-1", "-1e300", "1e300", "253402300800", "0"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
        cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
        cleanup_free char *line =
            xasprintf("{\"virt-seed\":1,\"boot\":\"" BOOT "\",\"status\":{\"v1\":"
                      "{\"init\":{\"start\":%s,\"finished\":\"soon\"}}}}\n",
                      times[i]);

        assert_int_equal(feed_text(&report, line), 1);
        assert_true(report.stages[GUEST_STAGE_INIT].started);
        assert_true(report.stages[GUEST_STAGE_INIT].start == 0);
        assert_false(report.stages[GUEST_STAGE_INIT].finished);
    }
}

static void
members_of_another_type_are_missing(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(
        feed_text(
            &report,
            LINE(STATUS("\"datasource\":[],\"stage\":{},\"init\":7,"
                        "\"init-local\":{\"errors\":\"x\",\"recoverable_errors\":[]},"
                        "\"modules-final\":{\"errors\":{},\"start\":\"1\","
                        "\"recoverable_errors\":{\"WARNING\":\"x\"}}"))),
        1);
    assert_int_equal(report.state, GUEST_STATE_RUNNING);
    assert_null(report.datasource);
    assert_int_equal(report.errors.count, 0);
    assert_int_equal(report.warnings.count, 0);
}

static void
an_error_that_is_no_text_is_an_error(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report, LINE(FINISHED("") "," RESULT("1,null,{\"a\":[]}")));
    assert_int_equal(report.state, GUEST_STATE_FAILED);
    assert_int_equal(report.errors.count, 1);
}

static void
control_characters_are_not_kept(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report,
              LINE(FINISHED("") "," RESULT("\"a\\u001b[2J\\u0000b\\u009b31m\\u007f"
                                           "\\nExit code: 1\\r\\n\\t.\"")));
    assert_string_equal(report.errors.list[0].text, "a?[2J?b??31m? Exit code: 1   .");
}

static void
what_turns_the_text_around_is_not_kept(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    feed_text(&report, LINE(FINISHED("") "," RESULT("\"a\\u202eb\"")));
    assert_string_equal(report.errors.list[0].text, "a???b");
}

static void
half_a_surrogate_pair_loses_no_result(void **state)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(
        feed_text(&report,
                  LINE(FINISHED("") "," RESULT(
                      "\"a\\udcff\",\"b\\ud800x\",\"c\\ud83d\\ude00\",\"d\\\\udcff\","
                      "\"e\\ud800\\ud83d\\ude00\""))),
        1);
    assert_string_equal(report.errors.list[0].text, "a\xef\xbf\xbd");
    assert_string_equal(report.errors.list[1].text, "b\xef\xbf\xbdx");
    assert_string_equal(report.errors.list[2].text, "c\xf0\x9f\x98\x80");
    assert_string_equal(report.errors.list[3].text, "d\\udcff");
    assert_string_equal(report.errors.list[4].text, "e\xef\xbf\xbd\xf0\x9f\x98\x80");
    assert_ignored("\\\n");
    assert_ignored("\\u\n");
    assert_ignored("\\ud800\n");
    assert_ignored("\\ud800\\u\n");
}

/* Return: text with `count` times "é", owned by the caller. */
static char *
repeat(const char *piece, size_t count)
{
    size_t length = strlen(piece);
    char *text = xmalloc(count * length + 1);

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, piece, length);
    text[count * length] = '\0';
    return text;
}

static void
long_texts_are_cut_between_characters(void **state)
{
    cleanup_free char *text = repeat("\xc3\xa9", LIMIT_REPORT_TEXT);
    cleanup_free char *line = xasprintf("{\"virt-seed\":1,\"boot\":\"" BOOT
                                        "\",\"status\":{\"v1\":{\"datasource\":\"x%s\"}},"
                                        "\"result\":{\"v1\":{\"errors\":[\"x%s\"]}}}\n",
                                        text, text);
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    const char *error;

    (void)state;
    assert_int_equal(feed_text(&report, line), 1);
    error = report.errors.list[0].text;
    assert_true(strlen(error) <= LIMIT_REPORT_TEXT);
    assert_true(strlen(error) > LIMIT_REPORT_TEXT - 3);
    assert_true(utf8_is_valid(error, strlen(error)));
    assert_string_equal(error + strlen(error) - 3, "…");
    assert_true(strlen(report.datasource) <= LIMIT_REPORT_DATASOURCE);
    assert_true(utf8_is_valid(report.datasource, strlen(report.datasource)));
}

static void
no_more_than_so_many_errors_are_kept(void **state)
{
    cleanup_buffer struct buffer line = {0};
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    buffer_append_string(&line,
                         "{\"virt-seed\":1,\"boot\":\"" BOOT "\",\"status\":{\"v1\":{}},"
                         "\"result\":{\"v1\":{\"errors\":[");
    for (int i = 0; i < LIMIT_REPORT_MESSAGES + 7; i++) {
        cleanup_free char *error = xasprintf("%s\"%d\"", i ? "," : "", i);

        buffer_append_string(&line, error);
    }
    buffer_append_string(&line, "]}}}\n");
    assert_int_equal(feed_text(&report, line.data), 1);
    assert_int_equal(report.errors.count, LIMIT_REPORT_MESSAGES);
    assert_int_equal(report.errors.left_out, 7);
}

static void
a_line_without_end_is_not_kept(void **state)
{
    cleanup_free char *chunk = repeat("x", 64 * KIB);
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    for (int i = 0; i < 64; i++) {
        assert_int_equal(feed_all(&report, chunk, 64 * KIB), 0);
        assert_true(report.line.capacity <= 4 * LIMIT_REPORT_LINE);
    }
    assert_int_equal(report.line.size, 0);
    assert_int_equal(feed_text(&report, "\n"), 0);
    assert_int_equal(feed_text(&report, done), 1);
}

static void
a_line_may_be_as_long_as_the_limit(void **state)
{
    size_t room = LIMIT_REPORT_LINE - (sizeof(done) - 2);
    cleanup_free char *blanks = repeat(" ", room);
    cleanup_free char *longest = xasprintf("%s%s", blanks, done);
    cleanup_free char *longer = xasprintf("%s %s", blanks, done);
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(feed_text(&report, longest), 1);
    feed_text(&report, longer);
}

/* An error quotes the output of its command, and the result repeats the stages'
 * errors. */
static void
a_result_with_a_long_output_counts(void **state)
{
    cleanup_free char *output = repeat("output ", 50 * KIB);
    cleanup_free char *line = xasprintf(
        LINE(FINISHED("\"errors\":[\"%s\"],") "," RESULT("\"%s\"")), output, output);
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;

    (void)state;
    assert_int_equal(feed_text(&report, line), 1);
    assert_int_equal(report.state, GUEST_STATE_FAILED);
    assert_int_equal(report.errors.count, 1);
}

static void
deep_nesting_is_survived(void **state)
{
    cleanup_free char *open = repeat("[", LIMIT_REPORT_LINE / 2);
    cleanup_free char *objects = repeat("{\"a\":", LIMIT_REPORT_LINE / 8);
    cleanup_free char *line = xasprintf("%s\n", open);
    cleanup_free char *other = xasprintf("%s\n", objects);

    (void)state;
    assert_ignored(line);
    assert_ignored(other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_nothing),
        cmocka_unit_test(reads_the_stage_that_runs),
        cmocka_unit_test(a_result_without_errors_is_done),
        cmocka_unit_test(reads_what_the_guest_has_taken),
        cmocka_unit_test(reads_what_has_failed),
        cmocka_unit_test(reads_what_was_dropped),
        cmocka_unit_test(reads_how_to_log_in),
        cmocka_unit_test(a_hostile_login_is_left_out),
        cmocka_unit_test(logins_are_bounded),
        cmocka_unit_test(hostile_drops_are_bounded_and_safe_to_show),
        cmocka_unit_test(a_result_with_errors_is_failed),
        cmocka_unit_test(the_last_stage_that_has_finished_is_the_end),
        cmocka_unit_test(a_stage_that_runs_once_more_is_no_end),
        cmocka_unit_test(an_old_status_behind_the_result_is_left_out),
        cmocka_unit_test(a_status_that_is_not_there_yet_is_the_beginning_of_a_boot),
        cmocka_unit_test(an_error_is_known_while_the_boot_goes_on),
        cmocka_unit_test(recoverable_errors_are_warnings),
        cmocka_unit_test(another_boot_starts_over),
        cmocka_unit_test(lines_may_come_in_any_pieces),
        cmocka_unit_test(a_torn_last_line_does_not_count),
        cmocka_unit_test(members_of_later_versions_are_no_matter),
        cmocka_unit_test(lines_that_are_none_are_left_out),
        cmocka_unit_test(a_key_that_stands_twice_makes_it_none),
        cmocka_unit_test(a_nul_makes_it_none),
        cmocka_unit_test(numbers_out_of_range_make_it_none),
        cmocka_unit_test(absurd_times_are_no_times),
        cmocka_unit_test(members_of_another_type_are_missing),
        cmocka_unit_test(an_error_that_is_no_text_is_an_error),
        cmocka_unit_test(control_characters_are_not_kept),
        cmocka_unit_test(what_turns_the_text_around_is_not_kept),
        cmocka_unit_test(half_a_surrogate_pair_loses_no_result),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(no_more_than_so_many_errors_are_kept),
        cmocka_unit_test(a_line_without_end_is_not_kept),
        cmocka_unit_test(a_line_may_be_as_long_as_the_limit),
        cmocka_unit_test(a_result_with_a_long_output_counts),
        cmocka_unit_test(deep_nesting_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
