/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seed in the run-time directory: store/delivery.h. */
#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/delivery.h"
#include "store/rundir.h"
#include "unit.h"

#define SEED VIRT_SEED_RUNDIR "/" UNIT_UUID ".iso"

/* Paths relative to the test's directory. */
static const char *const path = &SEED[1];

static struct seed
new_seed(void)
{
    struct seed seed = {.volume_id = xstrdup("cidata")};

    buffer_append_string(&seed_add_document(&seed, "meta-data")->data, "{}\n");
    seed_add_document(&seed, "user-data");
    return seed;
}

static void
publish(void **state, struct seed *seed)
{
    const struct domain domain = {.uuid = UNIT_UUID};
    struct failure *failure = NULL;
    cleanup_close int rundir = rundir_open(unit_directory(state), &failure);
    struct delivery_start start = {.domain = &domain};

    assert_no_failure(failure);
    start.root = unit_directory(state);
    start.rundir = rundir;
    delivery_drive.publish(&start, seed, NULL, &failure);
    assert_no_failure(failure);
}

static void
reads_back_what_was_published(void **state)
{
    cleanup_seed struct seed seed = new_seed();
    cleanup_seed struct seed found_seed = {0};
    struct failure *failure = NULL;
    bool found = false;

    publish(state, &seed);
    delivery_read(unit_directory(state), UNIT_UUID, &found_seed, &found, &failure);
    assert_no_failure(failure);
    assert_true(found);
    assert_true(seed_is_same(&seed, &found_seed));
}

static void
finds_none_of_a_domain_that_does_not_run(void **state)
{
    cleanup_seed struct seed seed = new_seed();
    cleanup_seed struct seed none = {0};
    struct failure *failure = NULL;
    bool found = true;

    delivery_read(unit_directory(state), UNIT_UUID, &none, &found, &failure);
    assert_no_failure(failure);
    assert_false(found);
    publish(state, &seed);
    delivery_read(unit_directory(state), UNIT_OTHER_UUID, &none, &found, &failure);
    assert_no_failure(failure);
    assert_false(found);
}

static void
assert_cannot_be_read(void **state, enum failure_code code)
{
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;
    bool found;

    assert_int_equal(
        delivery_read(unit_directory(state), UNIT_UUID, &seed, &found, &failure), -1);
    assert_failure(&failure, code);
}

static void
says_why_it_cannot_be_read(void **state)
{
    unit_make_directory(unit_directory(state), path, 0755);
    assert_cannot_be_read(state, FAILURE_RUNDIR);
    assert_int_equal(unlinkat(unit_directory(state), path, AT_REMOVEDIR), 0);
    unit_make_file(unit_directory(state), path, 0600, "no image");
    assert_cannot_be_read(state, FAILURE_IMAGE);
}

static void
tells_seeds_apart(void **state)
{
    cleanup_seed struct seed one = new_seed();
    cleanup_seed struct seed other = new_seed();

    (void)state;
    assert_true(seed_is_same(&one, &other));
    buffer_append_string(&other.documents[0].data, " ");
    assert_false(seed_is_same(&one, &other));
    buffer_append_string(&one.documents[0].data, " ");
    seed_add_document(&one, "vendor-data");
    assert_false(seed_is_same(&one, &other));
    seed_add_document(&other, "network-config");
    assert_false(seed_is_same(&one, &other));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(reads_back_what_was_published),
        unit_test_in_directory(finds_none_of_a_domain_that_does_not_run),
        unit_test_in_directory(says_why_it_cannot_be_read),
        cmocka_unit_test(tells_seeds_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
