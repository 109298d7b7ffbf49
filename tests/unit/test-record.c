/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a domain: store/record.h. */
#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "domain/digest.h"
#include "host/documents.h"
#include "store/record.h"
#include "unit.h"

/* Relative to the test's directory. */
static const char *const file = &VIRT_SEED_STATEDIR "/" UNIT_UUID ".json"[1];

#define KEPT "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define DIGEST "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static void
read_record(int root, struct record *record)
{
    struct failure *failure = NULL;

    record_read(root, UNIT_UUID, record, &failure);
    assert_no_failure(failure);
}

static void
write_record(int root, const struct record *record)
{
    struct failure *failure = NULL;

    record_write(root, UNIT_UUID, record, &failure);
    assert_no_failure(failure);
}

static void
refuses_to_read(int root, const char *content)
{
    cleanup_record struct record record = {0};
    struct failure *failure = NULL;

    unit_make_file(root, file, 0640, content);
    assert_int_equal(record_read(root, UNIT_UUID, &record, &failure), -1);
    assert_failure(&failure, FAILURE_RECORD);
}

static void
make_boot(struct record_boot *boot)
{
    *boot = (struct record_boot){
        .time = xstrdup("2026-11-21T16:00:00Z"),
        .name = xstrdup("web1"),
        .version = xstrdup("0.1.0"),
        .label = xstrdup("cidata"),
        .datasource = xstrdup("nocloud"),
        .instance_id = xstrdup(UNIT_UUID),
        .documents = xcalloc(2, sizeof(*boot->documents)),
        .document_count = 2,
    };
    boot->documents[0] =
        (struct record_document){xstrdup("user-data"), xstrdup(DIGEST), NULL};
    boot->documents[1] =
        (struct record_document){xstrdup("meta-data"), xstrdup(DIGEST), xstrdup(KEPT)};
}

static char **
make_texts(size_t count, const char *text)
{
    char **texts = xcalloc(count, sizeof(*texts));

    for (size_t i = 0; i < count; i++)
        texts[i] = xstrdup(text);
    return texts;
}

static void
make_result(struct record_result *result, size_t error_count, const char *error)
{
    *result = (struct record_result){
        .state = GUEST_STATE_FAILED,
        .time = xstrdup("2026-11-21T16:01:00Z"),
        .datasource = xstrdup("DataSourceNoCloud [seed=/dev/sr0]"),
        .errors = make_texts(error_count, error),
        .error_count = error_count,
        .claim =
            {
                .version = xstrdup("25.1.4"),
                .instance_id = xstrdup("one"),
                .is_new = true,
                .documents = {[KEPT_USER_DATA] = xstrdup(DIGEST)},
                .first = {[KEPT_NETWORK_CONFIG] = xstrdup(KEPT)},
                .failed_module = xstrdup("scripts_user"),
                .failed_log = xstrdup("RuntimeError: 1 failed"),
            },
    };
}

/* --- what is written is read ----------------------------------------------------------
 */

static void
is_empty_where_there_is_none(void **state)
{
    cleanup_record struct record record = {0};

    read_record(unit_directory(state), &record);
    assert_null(record.done);
    assert_null(record.boot.time);
    assert_int_equal(record.result.state, GUEST_STATE_NOTHING);
}

static void
reads_what_was_written(void **state)
{
    cleanup_record struct record written = {.done = xstrdup("2026-11-21T15:00:00Z")};
    cleanup_record struct record record = {0};

    make_boot(&written.boot);
    make_result(&written.result, 2, "('scripts_user', RuntimeError(\x1b[31m))\n");
    write_record(unit_directory(state), &written);
    read_record(unit_directory(state), &record);
    assert_string_equal(record.done, "2026-11-21T15:00:00Z");
    assert_string_equal(record.boot.time, "2026-11-21T16:00:00Z");
    assert_string_equal(record.boot.name, "web1");
    assert_string_equal(record.boot.version, "0.1.0");
    assert_string_equal(record.boot.label, "cidata");
    assert_string_equal(record.boot.datasource, "nocloud");
    assert_string_equal(record.boot.instance_id, UNIT_UUID);
    assert_int_equal(record.boot.document_count, 2);
    assert_string_equal(record.boot.documents[0].path, "user-data");
    assert_string_equal(record_find_document(&record.boot, "meta-data")->digest, DIGEST);
    assert_string_equal(record_find_document(&record.boot, "meta-data")->kept, KEPT);
    assert_null(record.boot.documents[0].kept);
    assert_string_equal(record.result.claim.version, "25.1.4");
    assert_string_equal(record.result.claim.instance_id, "one");
    assert_true(record.result.claim.is_new);
    assert_string_equal(record.result.claim.documents[KEPT_USER_DATA], DIGEST);
    assert_null(record.result.claim.documents[KEPT_VENDOR_DATA]);
    assert_string_equal(record.result.claim.first[KEPT_NETWORK_CONFIG], KEPT);
    assert_string_equal(record.result.claim.failed_module, "scripts_user");
    assert_string_equal(record.result.claim.failed_log, "RuntimeError: 1 failed");
    assert_null(record_find_document(&record.boot, "vendor-data"));
    assert_int_equal(record.result.state, GUEST_STATE_FAILED);
    assert_string_equal(record.result.time, "2026-11-21T16:01:00Z");
    assert_string_equal(record.result.datasource, "DataSourceNoCloud [seed=/dev/sr0]");
    assert_int_equal(record.result.error_count, 2);
    assert_string_equal(record.result.errors[1], written.result.errors[1]);
    assert_int_equal(record.result.warning_count, 0);
}

static void
an_empty_one_leaves_no_file(void **state)
{
    cleanup_record struct record record = {.done = xstrdup("2026-11-21T15:00:00Z")};

    write_record(unit_directory(state), &record);
    assert_int_equal(faccessat(unit_directory(state), file, F_OK, 0), 0);
    record_clear(&record);
    write_record(unit_directory(state), &record);
    assert_int_equal(faccessat(unit_directory(state), file, F_OK, 0), -1);
    write_record(unit_directory(state), &record);
}

static void
others_cannot_read_it_nor_one_that_they_could(void **state)
{
    cleanup_record struct record record = {.done = xstrdup("2026-11-21T15:00:00Z")};
    struct stat status;

    unit_make_file(unit_directory(state), file, 0644, "{}");
    write_record(unit_directory(state), &record);
    assert_int_equal(fstatat(unit_directory(state), file, &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
}

static void
a_boot_takes_the_result_of_the_one_before_away(void **state)
{
    cleanup_record struct record record = {.done = xstrdup("2026-11-21T15:00:00Z")};
    cleanup_record_boot struct record_boot boot = {0};

    (void)state;
    make_result(&record.result, 1, "error");
    make_boot(&boot);
    record_set_boot(&record, &boot);
    assert_int_equal(record.result.state, GUEST_STATE_NOTHING);
    assert_int_equal(record.result.error_count, 0);
    assert_string_equal(record.boot.name, "web1");
    assert_null(boot.name);
    assert_non_null(record.done);
}

/* The result of 16:01 is that of a snapshot that was taken before the boot of 16:03 began. */
static void
a_snapshot_has_the_result_from_before_it(void **state)
{
    static const struct {
        time_t taken;
        bool has_result;
    } cases[] = {
        {1795276860, false}, {1795276861, true},  {1795276979, true},
        {1795276980, false}, {1795277100, false}, {-1, false},
    };
    cleanup_record struct record written = {0};
    cleanup_record struct record record = {0};
    cleanup_record_boot struct record_boot boot = {0};

    make_result(&written.result, 1, "error");
    texts_add(&written.result.claim.dropped, &written.result.claim.dropped_count,
              xstrdup("user-data: gone"));
    written.result.claim.login.user = xstrdup("debian");
    *array_add(written.result.claim.login.addresses,
               written.result.claim.login.address_count) = (struct guest_address){
        .nic = "ens3",
        .mac = "52:54:00:00:00:01",
        .address = "192.0.2.7",
    };
    make_boot(&boot);
    free(boot.time);
    boot.time = xstrdup("2026-11-21T16:03:00Z");
    record_set_boot(&written, &boot);
    /* A boot that is reverted, too, has no result of its own. */
    make_boot(&boot);
    free(boot.time);
    boot.time = xstrdup("2026-11-21T16:05:00Z");
    record_set_boot(&written, &boot);
    write_record(unit_directory(state), &written);
    read_record(unit_directory(state), &record);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct record_result *result = record_result_at(&record, cases[i].taken);

        assert_true(cases[i].has_result == (result != NULL));
        if (result) {
            assert_int_equal(result->state, GUEST_STATE_FAILED);
            assert_string_equal(result->errors[0], "error");
            assert_string_equal(result->claim.dropped[0], "user-data: gone");
            assert_string_equal(result->claim.login.user, "debian");
            assert_string_equal(result->claim.login.addresses[0].address, "192.0.2.7");
        }
    }
    /* The next one's result takes its place. */
    make_result(&record.result, 1, "error");
    free(record.result.time);
    record.result.time = xstrdup("2026-11-21T16:06:00Z");
    make_boot(&boot);
    free(boot.time);
    boot.time = xstrdup("2026-11-21T16:08:00Z");
    record_set_boot(&record, &boot);
    assert_null(record_result_at(&record, 1795276861));
    assert_non_null(record_result_at(&record, 1795277221));
}

/* --- what others wrote ----------------------------------------------------------------
 */

static void
keeps_what_replaced_the_seed_until_the_next_boot(void **state)
{
    cleanup_record struct record written = {.done = NULL};
    cleanup_record struct record record = {0};
    cleanup_record_boot struct record_boot update = {.time = NULL};
    cleanup_record_boot struct record_boot boot = {.time = NULL};

    make_boot(&written.boot);
    update.time = xstrdup("2026-11-21T17:00:00Z");
    update.instance_id = xstrdup("second");
    record_set_update(&written, &update);
    assert_null(update.time);
    write_record(unit_directory(state), &written);
    read_record(unit_directory(state), &record);
    assert_string_equal(record.update.time, "2026-11-21T17:00:00Z");
    assert_string_equal(record.update.instance_id, "second");
    assert_string_equal(record.boot.instance_id, UNIT_UUID);

    update.time = xstrdup("2026-11-21T17:01:00Z");
    record_set_update(&record, &update);
    assert_string_equal(record.update.time, "2026-11-21T17:01:00Z");
    assert_null(record.update.instance_id);

    make_boot(&boot);
    record_set_boot(&record, &boot);
    assert_null(record.update.time);
}

static void
counts_what_it_does_not_know_as_missing(void **state)
{
    cleanup_record struct record record = {0};
    cleanup_buffer struct buffer content = {0};

    unit_make_file(
        unit_directory(state), file, 0640,
        "{\"later\": [1], \"boot\": {\"time\": \"T\", \"label\": 7, \"more\": {}},"
        " \"update\": [], \"result\": {\"state\": \"exploded\"}}");
    read_record(unit_directory(state), &record);
    assert_string_equal(record.boot.time, "T");
    assert_null(record.boot.label);
    assert_null(record.update.time);
    assert_int_equal(record.result.state, GUEST_STATE_NOTHING);
    record.done = xstrdup("D");
    write_record(unit_directory(state), &record);
    content = unit_read_file(unit_directory(state), file);
    assert_null(strstr(content.data, "later"));
    assert_null(strstr(content.data, "exploded"));
    assert_non_null(strstr(content.data, "\"done\": \"D\""));
}

static void
refuses_what_is_no_record(void **state)
{
    cleanup_free char *large = xcalloc(1, LIMIT_RECORD + 3);

    memset(large, ' ', LIMIT_RECORD + 2);
    memcpy(large, "{}", 2);
    refuses_to_read(unit_directory(state), "");
    refuses_to_read(unit_directory(state), "[]");
    refuses_to_read(unit_directory(state), "{\"done\": ");
    refuses_to_read(unit_directory(state), large);
}

static void
is_no_link(void **state)
{
    cleanup_record struct record record = {0};
    struct failure *failure = NULL;

    unit_make_file(unit_directory(state), "elsewhere", 0644, "{\"done\": \"D\"}");
    unit_make_link(unit_directory(state), file, "../../../../../../../../elsewhere");
    assert_int_equal(record_read(unit_directory(state), UNIT_UUID, &record, &failure),
                     -1);
    assert_failure(&failure, FAILURE_RECORD);
}

/* --- limits ---------------------------------------------------------------------------
 */

static void
cuts_what_is_too_long(void **state)
{
    cleanup_record struct record written = {0};
    cleanup_record struct record record = {0};
    cleanup_free char *text = xcalloc(1, LIMIT_RECORD_TEXT + 2);

    /* In the middle of a character. */
    memset(text, 'x', LIMIT_RECORD_TEXT - 1);
    memcpy(text + LIMIT_RECORD_TEXT - 1, "\xc3\xa4", 2);
    make_result(&written.result, LIMIT_RECORD_TEXTS + 1, text);
    write_record(unit_directory(state), &written);
    read_record(unit_directory(state), &record);
    assert_int_equal(record.result.error_count, LIMIT_RECORD_TEXTS);
    assert_int_equal(strlen(record.result.errors[0]), LIMIT_RECORD_TEXT);
    assert_int_equal(record.result.errors[0][LIMIT_RECORD_TEXT - 1], '?');
}

static void
writes_none_that_it_could_not_read(void **state)
{
    cleanup_record struct record record = {.boot = {.time = xstrdup("T")}};
    struct failure *failure = NULL;
    const size_t count = 2 * LIMIT_RECORD / LIMIT_RECORD_TEXT;
    cleanup_free char *text = xcalloc(1, LIMIT_RECORD_TEXT + 1);

    memset(text, 'x', LIMIT_RECORD_TEXT);
    record.boot.documents = xcalloc(count, sizeof(*record.boot.documents));
    for (size_t i = 0; i < count; i++)
        record.boot.documents[record.boot.document_count++] =
            (struct record_document){xasprintf("%zu", i), xstrdup(text), NULL};
    assert_int_equal(record_write(unit_directory(state), UNIT_UUID, &record, &failure),
                     -1);
    assert_failure(&failure, FAILURE_RECORD);
    assert_int_equal(faccessat(unit_directory(state), file, F_OK, 0), -1);
}

/* --- the rest -------------------------------------------------------------------------
 */

static void
times_are_of_utc(void **state)
{
    cleanup_free char *time = record_time(1795276800);
    cleanup_free char *absurd = record_time((time_t)1 << 60);

    (void)state;
    assert_string_equal(time, "2026-11-21T16:00:00Z");
    assert_string_equal(absurd, "1970-01-01T00:00:00Z");
}

static void
a_digest_is_that_of_sha256sum(void **state)
{
    const struct buffer nothing = {0};
    const struct buffer hello = {.data = (char *)"hello", .size = 5};
    cleanup_free char *of_nothing = digest_make(&nothing);
    cleanup_free char *of_hello = digest_make(&hello);

    (void)state;
    assert_string_equal(
        of_nothing, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(of_hello, DIGEST);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(is_empty_where_there_is_none),
        unit_test_in_directory(reads_what_was_written),
        unit_test_in_directory(an_empty_one_leaves_no_file),
        unit_test_in_directory(others_cannot_read_it_nor_one_that_they_could),
        cmocka_unit_test(a_boot_takes_the_result_of_the_one_before_away),
        unit_test_in_directory(a_snapshot_has_the_result_from_before_it),
        unit_test_in_directory(keeps_what_replaced_the_seed_until_the_next_boot),
        unit_test_in_directory(counts_what_it_does_not_know_as_missing),
        unit_test_in_directory(refuses_what_is_no_record),
        unit_test_in_directory(is_no_link),
        unit_test_in_directory(cuts_what_is_too_long),
        unit_test_in_directory(writes_none_that_it_could_not_read),
        cmocka_unit_test(times_are_of_utc),
        cmocka_unit_test(a_digest_is_that_of_sha256sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
