/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest claims to have taken of its seed: store/consumption.h. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/documents.h"
#include "store/consumption.h"
#include "unit.h"

/* Each document is told apart by a letter: its digest, 64 times that letter. */
struct taken {
    const char *instance_id;
    char user_data, vendor_data, network_config;
};

static char *
digest_of(char letter)
{
    char *digest = letter ? xcalloc(1, DIGEST_LENGTH + 1) : NULL;

    return digest ? memset(digest, letter, DIGEST_LENGTH) : NULL;
}

static void
deliver(struct record_boot *boot, struct taken seed)
{
    *boot = (struct record_boot){
        .time = xstrdup("2026-11-21T16:00:00Z"),
        .datasource = xstrdup("nocloud"),
        .instance_id = xstrdup(seed.instance_id),
    };
    *array_add(boot->documents, boot->document_count) =
        (struct record_document){xstrdup("user-data"), digest_of(seed.user_data), NULL};
    *array_add(boot->documents, boot->document_count) = (struct record_document){
        xstrdup("vendor-data"), digest_of(seed.vendor_data), NULL};
    *array_add(boot->documents, boot->document_count) = (struct record_document){
        xstrdup("network-config"), digest_of('0'), digest_of(seed.network_config)};
}

static void
claim_documents(char **digests, struct taken seed)
{
    digests[KEPT_USER_DATA] = digest_of(seed.user_data);
    digests[KEPT_VENDOR_DATA] = digest_of(seed.vendor_data);
    digests[KEPT_NETWORK_CONFIG] = digest_of(seed.network_config);
}

static const struct taken a = {"one", 'a', 'a', 'a'};
static const struct taken b = {"one", 'b', 'b', 'b'};
static const struct taken c = {"two", 'c', 'c', 'c'};

/* What was delivered at the boot and by an update, what the guest read and, in the first
 * boot of its instance, applied; `expected` is what is printed. */
static void
assert_says(const struct taken *boot, const struct taken *update, bool is_new,
            const struct taken *now, const struct taken *first, const char *expected)
{
    cleanup_record struct record record = {0};
    struct guest_claim claim = {.is_new = is_new};
    enum consumption consumption;
    cleanup_free char *result = NULL;
    const char *reason;

    deliver(&record.boot, *boot);
    if (update)
        deliver(&record.update, *update);
    claim.instance_id = xstrdup(now->instance_id);
    claim_documents(claim.documents, *now);
    if (first)
        claim_documents(claim.first, *first);
    consumption = consumption_find(&record, &claim, NULL, &reason);
    result = consumption_describe(consumption, reason);
    assert_string_equal(result, expected);
    guest_claim_clear(&claim);
}

static void
a_guest_that_took_its_seed_has_applied_it(void **state)
{
    const struct taken no_network = {"one", 'a', 'a', 0};

    (void)state;
    assert_says(&a, NULL, true, &a, &a, "applied");
    assert_says(&a, NULL, false, &a, &a, "applied");
    /* Older versions of cloud-init do not keep it. */
    assert_says(&a, NULL, true, &no_network, &no_network, "applied");
    /* Nor is it known of each seed how cloud-init writes it. */
    assert_says(&no_network, NULL, true, &a, &a, "applied");
}

static void
what_was_not_delivered_is_not_applied(void **state)
{
    const struct taken other_id = {"other", 'a', 'a', 'a'};
    const struct taken other_user_data = {"one", 'x', 'a', 'a'};
    const struct taken other_vendor_data = {"one", 'a', 'x', 'a'};
    const struct taken other_network = {"one", 'a', 'a', 'x'};

    (void)state;
    assert_says(&a, NULL, true, &other_id, &a, "not applied: another instance-id");
    assert_says(&a, NULL, true, &other_user_data, &other_user_data,
                "not applied: other user-data");
    assert_says(&a, NULL, true, &other_vendor_data, &a, "not applied: other vendor-data");
    assert_says(&a, NULL, true, &other_network, &a,
                "not applied: another network-config");
}

static void
what_was_dropped_is_not_applied(void **state)
{
    cleanup_record struct record record = {0};
    struct guest_claim claim = {.instance_id = xstrdup("one"), .is_new = true};
    cleanup_free char *says = NULL;
    enum consumption consumption;
    const char *reason;

    (void)state;
    deliver(&record.boot, a);
    claim_documents(claim.documents, a);
    claim_documents(claim.first, a);
    texts_add(&claim.dropped, &claim.dropped_count, xstrdup("user-data: gone"));
    consumption = consumption_find(&record, &claim, NULL, &reason);
    says = consumption_describe(consumption, reason);
    assert_string_equal(says, "not applied (user-data: gone)");
    free(says);
    /* What it needs to apply the last seed is said first. */
    deliver(&record.update, b);
    consumption = consumption_find(&record, &claim, NULL, &reason);
    says = consumption_describe(consumption, reason);
    assert_string_equal(says, "older seed applied: needs a reboot, and a new instance");
    guest_claim_clear(&claim);
}

static void
a_change_needs_a_new_instance(void **state)
{
    const struct taken as_b = {"one", 'b', 'b', 'a'};
    const struct taken other_network = {"one", 'a', 'a', 'b'};

    (void)state;
    assert_says(&b, NULL, false, &as_b, &a, "older seed applied: needs a new instance");
    assert_says(&other_network, NULL, false, &a, &a,
                "older seed applied: needs a new instance");
    assert_says(&c, NULL, true, &c, &c, "applied");
}

static void
other_vendor_data_alone_does_not(void **state)
{
    const struct taken upgraded = {"one", 'a', 'b', 'a'};

    (void)state;
    assert_says(&upgraded, NULL, false, &upgraded, &a, "applied");
}

static void
an_update_needs_a_reboot(void **state)
{
    (void)state;
    assert_says(&a, &b, true, &a, &a,
                "older seed applied: needs a reboot, and a new instance");
    assert_says(&a, &c, true, &a, &a, "older seed applied: needs a reboot");
    /* And then it has one. */
    assert_says(&a, &b, false, &b, &a, "older seed applied: needs a new instance");
    assert_says(&a, &c, true, &c, &c, "applied");
    assert_says(&a, &a, true, &a, &a, "applied");
}

/* A guest that was rebooted between two updates has what the first delivered, and lacks the
 * last. */
static void
another_update_needs_another_reboot(void **state)
{
    cleanup_record struct record record = {0};
    struct guest_claim claim = {.instance_id = xstrdup("two"), .is_new = true};
    const char *before = "2026-11-21T15:59:59Z", *later = "2026-11-21T16:00:01Z";
    const char *reason;

    (void)state;
    deliver(&record.boot, a);
    deliver(&record.update, b);
    claim_documents(claim.documents, c);
    claim_documents(claim.first, c);
    assert_int_equal(consumption_find(&record, &claim, before, &reason),
                     CONSUMPTION_OLDER);
    assert_string_equal(reason, "needs a reboot");
    assert_ptr_equal(consumption_find_read(&record, &claim, before), &record.boot);

    /* The last one has put the seed of the boot back. */
    record_boot_clear(&record.update);
    deliver(&record.update, a);
    assert_int_equal(consumption_find(&record, &claim, before, &reason),
                     CONSUMPTION_OLDER);
    assert_string_equal(reason, "needs a reboot");
    assert_int_equal(consumption_find(&record, &claim, later, &reason),
                     CONSUMPTION_DIFFERENT);
    assert_string_equal(reason, "another instance-id");
    guest_claim_clear(&claim);
}

/* Such as another host name in the meta-data, which cloud-init does not keep. */
static void
what_was_claimed_before_an_update_is_not_about_it(void **state)
{
    cleanup_record struct record record = {0};
    struct guest_claim claim = {.instance_id = xstrdup("one"), .is_new = true};
    const char *reason;

    (void)state;
    deliver(&record.boot, a);
    deliver(&record.update, a);
    claim_documents(claim.documents, a);
    claim_documents(claim.first, a);
    /* An update that has put the seed of the boot back is none. */
    assert_int_equal(consumption_find(&record, &claim, "2026-11-21T15:59:59Z", &reason),
                     CONSUMPTION_APPLIED);
    record.update.documents[2].digest[0] = '1';
    assert_int_equal(consumption_find(&record, &claim, "2026-11-21T15:59:59Z", &reason),
                     CONSUMPTION_OLDER);
    assert_string_equal(reason, "needs a reboot, and a new instance");
    /* In the second of the update. */
    assert_int_equal(consumption_find(&record, &claim, record.update.time, &reason),
                     CONSUMPTION_OLDER);
    assert_int_equal(consumption_find(&record, &claim, "2026-11-21T16:00:01Z", &reason),
                     CONSUMPTION_APPLIED);
    guest_claim_clear(&claim);
}

static void
an_instance_that_never_said_what_it_applied_has_read_it(void **state)
{
    (void)state;
    assert_says(&a, NULL, false, &a, NULL, "read");
    assert_says(&b, NULL, false, &a, NULL, "not applied: other user-data");
}

static void
a_guest_that_keeps_what_it_has_applies_nothing_else(void **state)
{
    cleanup_record struct record record = {0};
    struct guest_claim claim = {.instance_id = xstrdup("one")};
    const char *reason;

    (void)state;
    deliver(&record.boot, b);
    record.cache_keep = true;
    claim_documents(claim.documents, a);
    assert_int_equal(consumption_find(&record, &claim, NULL, &reason), CONSUMPTION_OLDER);
    assert_string_equal(reason, "it keeps what it has read");
    guest_claim_clear(&claim);
}

static void
the_identity_alone_is_applied_if_it_is_read(void **state)
{
    cleanup_record struct record record = {0};
    struct guest_claim claim = {.instance_id = xstrdup("one")};
    const char *reason;

    (void)state;
    deliver(&record.boot, b);
    record.boot.identity_alone = true;
    claim_documents(claim.documents, b);
    claim_documents(claim.first, a);
    assert_int_equal(consumption_find(&record, &claim, NULL, &reason),
                     CONSUMPTION_APPLIED);
    assert_null(reason);
    guest_claim_clear(&claim);
}

static void
a_guest_that_says_nothing_is_unknown(void **state)
{
    const struct guest_claim nothing = {0};
    cleanup_record struct record record = {0};
    const char *reason;

    (void)state;
    assert_int_equal(consumption_find(&record, &nothing, NULL, &reason),
                     CONSUMPTION_NONE);
    deliver(&record.boot, a);
    assert_int_equal(consumption_find(&record, &nothing, NULL, &reason),
                     CONSUMPTION_UNKNOWN);
    assert_null(reason);
    assert_null(consumption_describe(CONSUMPTION_UNKNOWN, NULL));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guest_that_took_its_seed_has_applied_it),
        cmocka_unit_test(what_was_not_delivered_is_not_applied),
        cmocka_unit_test(what_was_dropped_is_not_applied),
        cmocka_unit_test(a_change_needs_a_new_instance),
        cmocka_unit_test(other_vendor_data_alone_does_not),
        cmocka_unit_test(an_update_needs_a_reboot),
        cmocka_unit_test(another_update_needs_another_reboot),
        cmocka_unit_test(what_was_claimed_before_an_update_is_not_about_it),
        cmocka_unit_test(an_instance_that_never_said_what_it_applied_has_read_it),
        cmocka_unit_test(a_guest_that_keeps_what_it_has_applies_nothing_else),
        cmocka_unit_test(the_identity_alone_is_applied_if_it_is_read),
        cmocka_unit_test(a_guest_that_says_nothing_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
