/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How seeds reach their guests: store/delivery.h. */
#include "config.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/rundir.h"
#include "store/delivery.h"
#include "store/seed-file.h"
#include "unit.h"

#define SEED VIRT_SEED_RUNDIR "/" UNIT_UUID ".iso"

/* Paths relative to the test's directory. */
static const char *const path = &SEED[1];

static struct seed
new_seed(void)
{
    struct seed seed = {.label = xstrdup("cidata")};

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
    const struct delivery_start start = {.domain = &domain};
    cleanup_publication struct publication publication = PUBLICATION_NONE;
    cleanup_close int image = image_open(&failure);

    assert_no_failure(failure);
    publication.output = image;
    delivery_drive.make(&start, seed, &publication, &failure);
    assert_no_failure(failure);
    publication_publish(&publication, unit_directory(state), rundir, UNIT_UUID, &failure);
    assert_no_failure(failure);
}

static void
reads_back_what_was_published(void **state)
{
    cleanup_seed struct seed seed = new_seed();
    cleanup_seed struct seed found_seed = {0};
    const struct storage *storage = NULL;
    struct failure *failure = NULL;

    publish(state, &seed);
    storage_read(unit_directory(state), UNIT_UUID, &storage, &found_seed, &failure);
    assert_no_failure(failure);
    assert_ptr_equal(storage, &storage_image);
    assert_true(seed_is_same(&seed, &found_seed));
}

/* Publishes a seed, and says whether it is still the one after this is done with its file. */
static bool
is_as_made_after(void **state, void (*change)(int rundir))
{
    cleanup_seed struct seed seed = new_seed();
    struct failure *failure = NULL;
    cleanup_close int rundir = rundir_open(unit_directory(state), &failure);

    publish(state, &seed);
    change(rundir);
    return storage_image_take_made(rundir, UNIT_UUID, true);
}

static void
change_mode(int rundir)
{
    assert_int_equal(fchmodat(rundir, UNIT_UUID ".iso", 0640, 0), 0);
}

static void
remove_it(int rundir)
{
    assert_int_equal(unlinkat(rundir, UNIT_UUID ".iso", 0), 0);
}

static void
replace_it(int rundir)
{
    remove_it(rundir);
    unit_make_file(rundir, UNIT_UUID ".iso", 0600, "another");
}

static void
append_to_it(int rundir)
{
    cleanup_close int fd =
        openat(rundir, UNIT_UUID ".iso", O_WRONLY | O_APPEND | O_CLOEXEC);
    struct stat status = {0};

    /* The clock may just be at a whole second. */
    while (status.st_mtim.tv_nsec == 0) {
        const struct timespec moment = {.tv_nsec = 10000000};

        nanosleep(&moment, NULL);
        assert_int_equal(write(fd, "x", 1), 1);
        assert_int_equal(fstat(fd, &status), 0);
    }
}

static void
tells_a_seed_from_one_that_was_changed(void **state)
{
    struct failure *failure = NULL;
    cleanup_close int rundir = rundir_open(unit_directory(state), &failure);

    assert_true(is_as_made_after(state, change_mode));
    assert_false(is_as_made_after(state, remove_it));
    assert_false(is_as_made_after(state, replace_it));
    assert_false(is_as_made_after(state, append_to_it));
    /* It is asked once. */
    assert_true(storage_image_take_made(rundir, UNIT_UUID, false));
    assert_false(storage_image_take_made(rundir, UNIT_UUID, true));
}

static void
finds_none_of_a_domain_that_does_not_run(void **state)
{
    cleanup_seed struct seed seed = new_seed();
    cleanup_seed struct seed none = {0};
    const struct storage *storage = &storage_image;
    struct failure *failure = NULL;

    storage_read(unit_directory(state), UNIT_UUID, &storage, &none, &failure);
    assert_no_failure(failure);
    assert_null(storage);
    publish(state, &seed);
    storage_read(unit_directory(state), UNIT_OTHER_UUID, &storage, &none, &failure);
    assert_no_failure(failure);
    assert_null(storage);
}

static void
assert_cannot_be_read(void **state, enum failure_code code)
{
    cleanup_seed struct seed seed = {0};
    const struct storage *storage;
    struct failure *failure = NULL;

    assert_int_equal(
        storage_read(unit_directory(state), UNIT_UUID, &storage, &seed, &failure), -1);
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

/* Starts with <cloud-init/> and that emulator: publishes a seed as the row does. */
static void
start(void **state, int rundir, const char *emulator, const struct delivery *expected)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_free char *xml =
        xasprintf("<domain type='kvm'><name>web1</name><uuid>" UNIT_UUID "</uuid><os/>"
                  "<metadata><ci:cloud-init xmlns:ci='" REQUEST_NAMESPACE "'/></metadata>"
                  "<devices><emulator>%s</emulator></devices></domain>",
                  emulator);
    cleanup_seed struct seed seed = new_seed();
    struct failure *failure = NULL;
    cleanup_publication struct publication publication = PUBLICATION_NONE;
    cleanup_close int image = image_open(&failure);
    struct delivery_start what = {.domain = &unit.domain};

    unit_domain_read(&unit, xml);
    request_read(&unit.request, &unit.domain, &failure);
    assert_no_failure(failure);
    wire_facts_read(&facts, &unit.domain);
    what.facts = &facts;
    what.request = &unit.request;
    assert_ptr_equal(delivery_for(&unit.request, facts.uses_shim), expected);
    publication.report = expected->reporter(&what);
    publication.output = image;
    expected->make(&what, &seed, &publication, &failure);
    assert_no_failure(failure);
    publication_publish(&publication, unit_directory(state), rundir, UNIT_UUID, &failure);
    assert_no_failure(failure);
}

static void
withdraws_the_seed_and_leaves_the_marks(void **state)
{
    struct failure *failure = NULL;
    cleanup_close int rundir = rundir_open(unit_directory(state), &failure);
    cleanup_buffer struct buffer order = {0};

    unit_make_file(rundir, UNIT_UUID ".resumed", 0600, "");
    unit_make_file(rundir, UNIT_OTHER_UUID ".iso", 0600, "");
    start(state, rundir, "/usr/bin/virt-seed-qemu-system-x86_64", &delivery_shim);
    order = unit_read_file(rundir, UNIT_UUID ".shim");
    unit_assert_content(&order, "ds=nocloud;dsmode=net\nreport\n");
    assert_true(storage_inode(delivery_shim.storage, rundir, UNIT_UUID));
    assert_int_equal(delivery_shim.storage->withdraw(rundir, UNIT_UUID, &failure), 0);
    assert_no_failure(failure);
    assert_int_equal(unit_count_entries(rundir), 2);
    /* Without one it does nothing. */
    for (size_t i = 0; storages[i]; i++)
        assert_int_equal(storages[i]->withdraw(rundir, UNIT_UUID, &failure), 0);
    assert_no_failure(failure);
}

static void
writes_no_order_without_the_shim(void **state)
{
    struct failure *failure = NULL;
    cleanup_close int rundir = rundir_open(unit_directory(state), &failure);

    start(state, rundir, "/usr/bin/qemu-system-x86_64", &delivery_drive);
    assert_int_equal(unit_count_entries(rundir), 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(reads_back_what_was_published),
        unit_test_in_directory(tells_a_seed_from_one_that_was_changed),
        unit_test_in_directory(finds_none_of_a_domain_that_does_not_run),
        unit_test_in_directory(says_why_it_cannot_be_read),
        cmocka_unit_test(tells_seeds_apart),
        unit_test_in_directory(withdraws_the_seed_and_leaves_the_marks),
        unit_test_in_directory(writes_no_order_without_the_shim),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
