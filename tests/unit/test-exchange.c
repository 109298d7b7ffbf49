/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keeper and maker tell each other arrives as it was: host/exchange.h. */
#include "config.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/names.h"
#include "base/scope.h"
#include "base/text.h"
#include "exchange-readers.h"
#include "host/datasource.h"
#include "maker/maker.h"
#include "unit.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define MAC "52:54:00:12:34:56"
#define DIGEST TOKEN TOKEN
#define PUBLIC_KEY "ssh-ed25519 AAAAC3Nz web1\n"

static void
assert_no_cut_is_taken(exchange_taker *take, const struct exchange_given *given,
                       const struct buffer *message)
{
    assert_true(exchange_take_part(take, given, message, message->size));
    for (size_t size = 0; size < message->size; size++) {
        if (exchange_take_part(take, given, message, size))
            fail_msg("the first %zu of %zu bytes are taken", size, message->size);
    }
}

/* --- what is read is what was written ----------------------------------------------------- */

static void
assert_same_text(const char *one, const char *other)
{
    assert_int_equal(one == NULL, other == NULL);
    if (one)
        assert_string_equal(one, other);
}

static void
assert_same_failure(const struct failure *one, const struct failure *other)
{
    assert_int_equal(one == NULL, other == NULL);
    if (!one)
        return;
    assert_int_equal(one->code, other->code);
    assert_int_equal(one->line, other->line);
    assert_string_equal(one->message, other->message);
    assert_same_text(one->hint, other->hint);
}

static bool
take_hello(const struct exchange_given *given, const struct buffer *message)
{
    cleanup_hello struct hello hello = {0};

    (void)given;
    return hello_get(&hello, message);
}

static void
assert_same_config(const struct config_files *one, const struct config_files *other)
{
    assert_int_equal(one->is_complete, other->is_complete);
    assert_int_equal(one->count, other->count);
    for (size_t i = 0; i < one->count; i++) {
        assert_string_equal(one->list[i].path, other->list[i].path);
        assert_true(buffer_is_same(&one->list[i].text, &other->list[i].text));
    }
}

/* What belongs to another role does not arrive. */
static void
assert_hello_arrives(const struct hello *hello)
{
    const struct exchange_given given = {0};
    const bool is_start = hello->role == MAKER_PREPARE;
    const bool is_end = hello->role == MAKER_REPORT;
    cleanup_hello struct hello read = {0};
    cleanup_buffer struct buffer message = {0};

    hello_put(hello, &message);
    assert_true(hello_get(&read, &message));
    assert_int_equal(read.role, hello->role);
    assert_true(buffer_is_same(&read.record, &hello->record));
    assert_same_text(read.uuid, is_start ? hello->uuid : NULL);
    assert_int_equal(read.resumes, is_start && hello->resumes);
    assert_same_failure(read.record_failure, is_start ? hello->record_failure : NULL);
    if (is_start || hello->role == MAKER_WIRE)
        assert_same_config(&read.config, &hello->config);
    else
        assert_same_config(&read.config, &(struct config_files){0});
    assert_true(
        buffer_is_same(&read.report, is_end ? &hello->report : &(struct buffer){0}));
    assert_true(read.written == (is_end ? hello->written : 0));
    assert_same_text(read.end, is_end ? hello->end : NULL);
    assert_true(buffer_is_same(
        &read.next, hello->role == MAKER_MERGE ? &hello->next : &(struct buffer){0}));
    assert_no_cut_is_taken(take_hello, &given, &message);
}

static void
a_hello_arrives_in_each_role(void **state)
{
    struct config_file files[] = {
        {.path = (char *)"/etc/virt-seed/virt-seed.conf"},
        {.path = (char *)"/etc/virt-seed/conf.d/site.conf"},
    };
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    buffer_append_string(&files[1].text, "unwired = warn\n");
    failure_set(&failure, FAILURE_RECORD, "the record is too large\nremove it");
    for (int role = MAKER_PREPARE; role <= MAKER_WIRE; role++) {
        struct hello hello = {
            .role = (enum maker_role)role,
            .uuid = (char *)UNIT_UUID,
            .resumes = true,
            .record_failure = failure,
            .config = {.list = files, .count = ARRAY_SIZE(files), .is_complete = true},
            .written = (time_t)0x123456789a,
            .end = (char *)"shutdown",
        };

        buffer_append_string(&hello.record, "{\"boots\": 1}\n");
        buffer_append(&hello.report, "\0\1\2report", 9);
        buffer_append_string(&hello.next, "{\"boots\": 2}\n");
        assert_hello_arrives(&hello);
        buffer_clear(&hello.record);
        buffer_clear(&hello.report);
        buffer_clear(&hello.next);
    }
    buffer_clear(&files[1].text);
}

static void
an_empty_hello_arrives_in_each_role(void **state)
{
    (void)state;
    for (int role = MAKER_PREPARE; role <= MAKER_WIRE; role++)
        assert_hello_arrives(
            &(struct hello){.role = (enum maker_role)role, .uuid = (char *)UNIT_UUID});
}

static void
a_hello_in_no_role_is_not_taken(void **state)
{
    cleanup_buffer struct buffer message = {0};

    (void)state;
    message_put_text(&message, NULL);
    message_put_text(&message, NULL);
    message_put_number(&message, MAKER_WIRE + 1);
    message_put_bytes(&message, "", 0);
    assert_false(take_hello(NULL, &message));
}

static bool
takes_scope(const char *home, const char *runtime)
{
    cleanup_buffer struct buffer message = {0};

    message_put_text(&message, home);
    message_put_text(&message, runtime);
    message_put_number(&message, MAKER_MERGE);
    message_put_bytes(&message, "", 0);
    message_put_bytes(&message, "", 0);
    return take_hello(NULL, &message);
}

/* The last test: it changes the scope. */
static void
a_hello_brings_the_scope_if_its_directories_are_plain_paths(void **state)
{
    (void)state;
    assert_false(takes_scope("home", NULL));
    assert_false(takes_scope("/home/../ann", NULL));
    assert_false(takes_scope("/home/ann", "run"));
    assert_false(takes_scope(NULL, "/run/user/7"));
    assert_null(scope()->home);
    assert_true(takes_scope("/home/ann", "/run/user/7"));
    assert_string_equal(scope()->rundir, "/run/user/7/libvirt/virt-seed");
    assert_true(takes_scope("/home/ann", NULL));
    assert_string_equal(scope()->rundir, "/home/ann/.cache/libvirt/virt-seed");
}

/* A need of each kind. */
static void
make_needs(struct needs *needs)
{
    struct need *secret;

    needs_add(needs, NEED_FILE, "base.yaml");
    needs_add(needs, NEED_FILE, "");
    needs_add(needs, NEED_WHOLE_SECRET, "web1");
    needs_add(needs, NEED_HOST_KEY, NULL);
    needs_add(needs, NEED_PASSWORD, PASSWORD_NAME);
    needs_add(needs, NEED_PASSWORD, ROOT_PASSWORD_NAME);
    needs_add(needs, NEED_LABEL, "/var/lib/libvirt/images/web1.iso");
    needs_add(needs, NEED_DEFINITION, NULL);
    secret = needs_add(needs, NEED_SECRET, "web1");
    secret->keys[0] = xstrdup("userdata");
    secret = needs_add(needs, NEED_SECRET, "web2");
    secret->keys[0] = xstrdup("userdata");
    secret->keys[1] = xstrdup("userData");
    secret->keys[2] = xstrdup("");
}

static void
needs_of_each_kind_arrive(void **state)
{
    const struct exchange_given given = {0};
    cleanup_needs struct needs needs = {0};
    cleanup_needs struct needs read = {0};
    cleanup_buffer struct buffer message = {0};

    (void)state;
    make_needs(&needs);
    needs_put(&needs, &message);
    assert_true(needs_get(&read, MAKER_PREPARE, &message));
    assert_int_equal(read.count, needs.count);
    for (size_t i = 0; i < needs.count; i++) {
        assert_int_equal(read.list[i].kind, needs.list[i].kind);
        assert_same_text(read.list[i].name, needs.list[i].name);
        for (size_t key = 0; key < NEED_KEYS; key++)
            assert_same_text(read.list[i].keys[key], needs.list[i].keys[key]);
    }
    assert_no_cut_is_taken(exchange_take_needs, &given, &message);
}

static void
no_needs_arrive(void **state)
{
    const struct exchange_given given = {0};
    cleanup_needs struct needs needs = {0};
    cleanup_buffer struct buffer message = {0};

    (void)state;
    needs_put(&needs, &message);
    assert_true(needs_get(&needs, MAKER_PREPARE, &message));
    assert_int_equal(needs.count, 0);
    assert_no_cut_is_taken(exchange_take_needs, &given, &message);
}

static bool
take_answers(const struct exchange_given *given, const struct buffer *message)
{
    cleanup_needs struct needs needs = {0};

    (void)given;
    make_needs(&needs);
    return answers_get(&needs, message);
}

/* A failure, a failure in place of content, a word, entries, an empty entry, and nothing. */
static void
make_answers(struct needs *needs)
{
    make_needs(needs);
    failure_set(&needs->list[0].failure, FAILURE_FILE, "no such file\nmake it");
    failure_set_at(&needs->list[1].failure, FAILURE_LIMIT, 17, "too long");
    buffer_append_string(need_add_entry(&needs->list[1], NULL), "unread");
    buffer_append(need_add_entry(&needs->list[2], "userdata"), "a\0b\n", 4);
    buffer_append_string(need_add_entry(&needs->list[2], "empty"), "");
    needs->list[3].word = NEED_WORD_MAKE;
    needs->list[3].error = -EXDEV;
    needs->list[3].place = xstrdup("/etc/virt-seed/files");
    buffer_append_string(need_add_entry(&needs->list[4], NULL), "$y$hash");
    needs->list[6].word = NEED_WORD_LABEL_OF_SEED;
    needs->list[7].word = NEED_WORD_DEFINITION_WIRED;
}

static void
assert_same_answer(const struct need *one, const struct need *other)
{
    /* A failed answer has no content. */
    const size_t count = one->failure ? 0 : one->entry_count;

    assert_same_failure(one->failure, other->failure);
    assert_int_equal(one->error, other->error);
    assert_same_text(one->place, other->place);
    assert_int_equal(one->word, other->word);
    assert_int_equal(other->entry_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_same_text(one->entries[i].key, other->entries[i].key);
        assert_true(buffer_is_same(&one->entries[i].content, &other->entries[i].content));
    }
}

static void
answers_arrive(void **state)
{
    const struct exchange_given given = {0};
    cleanup_needs struct needs needs = {0};
    cleanup_needs struct needs read = {0};
    cleanup_buffer struct buffer message = {0};

    (void)state;
    make_answers(&needs);
    answers_put(&needs, &message);
    make_needs(&read);
    assert_true(answers_get(&read, &message));
    for (size_t i = 0; i < needs.count; i++)
        assert_same_answer(&needs.list[i], &read.list[i]);
    assert_no_cut_is_taken(take_answers, &given, &message);
}

static void
assert_same_notes(const struct verdict *one, const struct verdict *other)
{
    assert_int_equal(one->note_count, other->note_count);
    for (size_t i = 0; i < one->note_count; i++)
        assert_string_equal(one->notes[i], other->notes[i]);
}

static void
assert_same_documents(const struct seed *one, const struct seed *other)
{
    assert_int_equal(one->document_count, other->document_count);
    for (size_t i = 0; i < one->document_count; i++) {
        assert_string_equal(one->documents[i].path, other->documents[i].path);
        assert_true(buffer_is_same(&one->documents[i].data, &other->documents[i].data));
    }
}

static void
assert_same_publication(const struct publication *one, const struct publication *other)
{
    assert_int_equal(one->report, other->report);
    assert_int_equal(one->has_image, other->has_image);
    assert_int_equal(one->shim, other->shim);
    assert_same_text(one->served.token, other->served.token);
    assert_int_equal(one->served.mac_count, other->served.mac_count);
    for (size_t i = 0; i < one->served.mac_count; i++) {
        assert_string_equal(one->served.macs[i].mac, other->served.macs[i].mac);
        assert_int_equal(one->served.macs[i].link, other->served.macs[i].link);
    }
    assert_int_equal(one->served.seed == NULL, other->served.seed == NULL);
    if (one->served.seed)
        assert_same_documents(one->served.seed, other->served.seed);
}

/* Puts the verdict and gets it, and then each beginning of the message. */
static void
assert_arrives(const struct verdict *verdict)
{
    const struct exchange_given given = {.image_size = EXCHANGE_IMAGE_SIZE,
                                         .right = KEY_TO_MAKE};
    cleanup_close int image = exchange_make_image(EXCHANGE_IMAGE_SIZE);
    cleanup_verdict struct verdict read = VERDICT_NONE;
    cleanup_buffer struct buffer message = {0};

    verdict_put(verdict, &message);
    read.publication.output = image;
    assert_true(verdict_get(&read, KEY_TO_MAKE, &message));
    assert_int_equal(read.kind, verdict->kind);
    assert_same_notes(verdict, &read);
    assert_same_failure(verdict->refusal, read.refusal);
    assert_same_text(verdict->hint_if_wired, read.hint_if_wired);
    assert_same_publication(&verdict->publication, &read.publication);
    assert_true(buffer_is_same(&verdict->key.private, &read.key.private));
    assert_same_text(verdict->key.public, read.key.public);
    assert_same_text(verdict->digest, read.digest);
    assert_true(buffer_is_same(&verdict->next_record, &read.next_record));
    assert_no_cut_is_taken(exchange_take_verdict, &given, &message);
}

static void
a_verdict_of_nothing_arrives(void **state)
{
    cleanup_verdict struct verdict verdict = VERDICT_NONE;

    (void)state;
    assert_arrives(&verdict);
    texts_add(&verdict.notes, &verdict.note_count, xstrdup("the first 'note'"));
    texts_add(&verdict.notes, &verdict.note_count, xstrdup("the second"));
    assert_arrives(&verdict);
}

static void
a_refusal_arrives(void **state)
{
    cleanup_verdict struct verdict verdict = VERDICT_NONE;

    (void)state;
    verdict.kind = VERDICT_REFUSE;
    texts_add(&verdict.notes, &verdict.note_count, xstrdup("a note"));
    failure_set_at(&verdict.refusal, FAILURE_UNWIRED, 12, "not wired\nwire it");
    assert_arrives(&verdict);
    verdict.hint_if_wired = xstrdup("start it again");
    assert_arrives(&verdict);
    free(steal(verdict.refusal->hint));
    assert_arrives(&verdict);
}

static void
an_image_arrives(void **state)
{
    cleanup_verdict struct verdict verdict = VERDICT_NONE;

    (void)state;
    verdict.kind = VERDICT_SEED;
    verdict.publication.has_image = true;
    verdict.publication.report = REPORT_BY_VIRTLOGD;
    assert_arrives(&verdict);
    verdict.publication.report = REPORT_BY_SHIM;
    verdict.publication.shim = SHIM_ORDER_NOTHING;
    assert_arrives(&verdict);
    verdict.publication.shim = SHIM_ORDER_NOCLOUD;
    buffer_append(&verdict.key.private, "private\0key", 11);
    verdict.key.public = xstrdup(PUBLIC_KEY);
    verdict.digest = xstrdup(DIGEST);
    buffer_append_string(&verdict.next_record, "{}\n");
    assert_arrives(&verdict);
}

static void
what_is_served_arrives(void **state)
{
    cleanup_verdict struct verdict verdict = VERDICT_NONE;
    struct imds_mac *macs = xcalloc(2, sizeof(*macs));

    (void)state;
    macs[0] = (struct imds_mac){MAC, IMDS_LINK_NEIGHBOUR};
    macs[1] = (struct imds_mac){"52:54:00:12:34:57", IMDS_LINK_USER};
    verdict.kind = VERDICT_SEED;
    verdict.publication.served.token = xstrdup(TOKEN);
    verdict.publication.served.macs = macs;
    verdict.publication.served.seed = &verdict.seed;
    assert_arrives(&verdict);
    verdict.publication.served.mac_count = 2;
    buffer_append(&seed_add_document(&verdict.seed, "user-data")->data, "\0\1\2", 3);
    buffer_append_string(&seed_add_document(&verdict.seed, "meta-data")->data, "");
    seed_add_document(&verdict.seed, "network-config");
    verdict.key.public = xstrdup(PUBLIC_KEY);
    assert_arrives(&verdict);
}

static void
a_result_arrives(void **state)
{
    const struct exchange_given given = {0};

    (void)state;
    for (int event = MAKER_EVENT_NONE; event <= MAKER_EVENT_FAILED; event++) {
        cleanup_maker_result struct maker_result result = {.event =
                                                               (enum maker_event)event};
        cleanup_maker_result struct maker_result read = {0};
        cleanup_failure struct failure *failure = NULL;
        cleanup_buffer struct buffer message = {0};

        if (event != MAKER_EVENT_NONE)
            buffer_append_string(&result.text, "{\"boots\": 1}\n");
        result_put(&result, NULL, &message);
        assert_true(result_get(&read, MAKER_REPORT, &failure, &message));
        assert_null(failure);
        assert_int_equal(read.event, event);
        assert_true(buffer_is_same(&read.text, &result.text));
        assert_no_cut_is_taken(exchange_take_result, &given, &message);
    }
}

static void
a_failure_arrives_in_place_of_a_result(void **state)
{
    const struct exchange_given given = {0};
    cleanup_maker_result struct maker_result read = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_failure struct failure *arrived = NULL;
    cleanup_buffer struct buffer message = {0};

    (void)state;
    failure_set(&failure, FAILURE_RECORD, "the record is damaged\nremove it");
    result_put(&read, failure, &message);
    assert_true(result_get(&read, MAKER_REPORT, &arrived, &message));
    assert_same_failure(failure, arrived);
    assert_no_cut_is_taken(exchange_take_result, &given, &message);
}

static void
assert_wired_arrives(const struct maker_result *wired)
{
    const struct exchange_given given = {0};
    cleanup_maker_result struct maker_result read = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer message = {0};

    result_put(wired, NULL, &message);
    assert_true(result_get(&read, MAKER_WIRE, &failure, &message));
    assert_null(failure);
    assert_true(buffer_is_same(&read.text, &wired->text));
    assert_int_equal(read.change_count, wired->change_count);
    for (size_t i = 0; i < wired->change_count; i++)
        assert_string_equal(read.changes[i], wired->changes[i]);
    assert_no_cut_is_taken(exchange_take_wired, &given, &message);
}

static void
a_wired_definition_arrives(void **state)
{
    cleanup_maker_result struct maker_result wired = {0};

    (void)state;
    assert_wired_arrives(&wired);
    buffer_append_string(&wired.text, "<domain>\n</domain>\n");
    assert_wired_arrives(&wired);
    texts_add(&wired.changes, &wired.change_count, xstrdup("added the drive 'sda'"));
    texts_add(&wired.changes, &wired.change_count, xstrdup("added the report channel"));
    assert_wired_arrives(&wired);
}

static void
a_failure_arrives_in_place_of_a_wired_definition(void **state)
{
    const struct exchange_given given = {0};
    cleanup_maker_result struct maker_result read = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_failure struct failure *arrived = NULL;
    cleanup_buffer struct buffer message = {0};

    (void)state;
    failure_set_at(&failure, FAILURE_LIMIT, 7, "too many disks\nremove one");
    result_put(&read, failure, &message);
    assert_true(result_get(&read, MAKER_WIRE, &arrived, &message));
    assert_same_failure(failure, arrived);
    assert_int_equal(read.text.size, 0);
    assert_no_cut_is_taken(exchange_take_wired, &given, &message);
}

static void
changes_are_safe_to_show(void **state)
{
    cleanup_maker_result struct maker_result wired = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer message = {0};

    (void)state;
    message_put_failure(&message, NULL);
    message_put_text(&message, "<domain/>");
    message_put_number(&message, MAKER_EVENT_NONE);
    message_put_number(&message, 1);
    message_put_text(&message, "one\nother \033[2J\xff");
    assert_true(result_get(&wired, MAKER_WIRE, &failure, &message));
    assert_string_equal(wired.changes[0], "one?other ?[2J?");
}

static void
what_a_maker_says_is_safe_to_show(void **state)
{
    cleanup_maker_result struct maker_result result = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer message = {0};

    (void)state;
    message_put_number(&message, 1);
    message_put_number(&message, FAILURE_RECORD);
    message_put_number(&message, 0);
    message_put_text(&message, "one\nother \033[2J\xff");
    message_put_text(&message, "a\rb");
    assert_true(result_get(&result, MAKER_REPORT, &failure, &message));
    assert_string_equal(failure->message, "one?other ?[2J?");
    assert_string_equal(failure->hint, "a?b");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hello_arrives_in_each_role),
        cmocka_unit_test(an_empty_hello_arrives_in_each_role),
        cmocka_unit_test(a_hello_in_no_role_is_not_taken),
        cmocka_unit_test(needs_of_each_kind_arrive),
        cmocka_unit_test(no_needs_arrive),
        cmocka_unit_test(answers_arrive),
        cmocka_unit_test(a_verdict_of_nothing_arrives),
        cmocka_unit_test(a_refusal_arrives),
        cmocka_unit_test(an_image_arrives),
        cmocka_unit_test(what_is_served_arrives),
        cmocka_unit_test(a_result_arrives),
        cmocka_unit_test(a_failure_arrives_in_place_of_a_result),
        cmocka_unit_test(a_wired_definition_arrives),
        cmocka_unit_test(a_failure_arrives_in_place_of_a_wired_definition),
        cmocka_unit_test(changes_are_safe_to_show),
        cmocka_unit_test(what_a_maker_says_is_safe_to_show),
        cmocka_unit_test(a_hello_brings_the_scope_if_its_directories_are_plain_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
