/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is on the host for domains: store/leftovers.h. */
#include "config.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/names.h"
#include "domain/part.h"
#include "host/imds-tree.h"
#include "host/rundir.h"
#include "store/leftovers.h"
#include "unit.h"

/* Relative to the test's directory. */
#define STATE (&VIRT_SEED_STATEDIR[1])
#define REPORTS (&VIRT_SEED_REPORTDIR[1])
#define SEEDS (&VIRT_SEED_RUNDIR[1])
#define SERVED (&IMDS_TREE[1])

static void
make(int root, const char *directory, const char *name)
{
    cleanup_free char *path = xasprintf("%s/%s", directory, name);

    unit_make_file(root, path, 0600, "");
}

static void
find(int root, struct leftovers *leftovers)
{
    struct failure *failure = NULL;

    leftovers_find(root, leftovers, &failure);
    assert_no_failure(failure);
}

static const struct leftover *
find_name(const struct leftovers *leftovers, const char *name)
{
    for (size_t i = 0; i < leftovers->count; i++) {
        if (strcmp(leftovers->list[i].name, name) == 0)
            return &leftovers->list[i];
    }
    return NULL;
}

static void
finds_nothing_where_nothing_is(void **state)
{
    cleanup_leftovers struct leftovers leftovers = {0};

    find(unit_directory(state), &leftovers);
    assert_int_equal(leftovers.count, 0);
}

static void
finds_what_is_of_domains_those_of_one_side_by_side(void **state)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    int root = unit_directory(state);

    make(root, STATE, UNIT_UUID ".json");
    make(root, STATE, UNIT_OTHER_UUID ".json");
    make(root, STATE, "README");
    make(root, STATE, "secrets/" UNIT_UUID "/ssh_host_ed25519_key");
    make(root, REPORTS, UNIT_OTHER_UUID ".report.0");
    make(root, SEEDS, UNIT_UUID ".iso");
    find(root, &leftovers);
    assert_int_equal(leftovers.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(leftovers.list[i].uuid, i < 2 ? UNIT_OTHER_UUID : UNIT_UUID);
    assert_true(find_name(&leftovers, UNIT_UUID ".json")->lasting);
    assert_true(find_name(&leftovers, UNIT_UUID)->lasting);
    assert_false(find_name(&leftovers, UNIT_UUID ".iso")->lasting);
    assert_false(find_name(&leftovers, UNIT_OTHER_UUID ".report.0")->lasting);
    assert_true(time(NULL) - find_name(&leftovers, UNIT_UUID)->changed < 60);
}

static void
leaves_alone_what_only_begins_with_a_uuid(void **state)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    int root = unit_directory(state);

    make(root, STATE, "secrets/" UNIT_UUID ".bak/ssh_host_ed25519_key");
    make(root, STATE, "secrets/" UNIT_UUID ".json");
    make(root, STATE, UNIT_UUID);
    make(root, STATE, UNIT_UUID ".json~");
    make(root, STATE, UNIT_UUID ".json.new.12345");
    make(root, STATE, UNIT_UUID "-notes");
    make(root, STATE, UNIT_UUID ".iso");
    make(root, REPORTS, UNIT_UUID ".report.0.gz");
    make(root, REPORTS, UNIT_UUID ".report.");
    make(root, REPORTS, UNIT_UUID ".libvirt-" UNIT_OTHER_UUID);
    make(root, SEEDS, UNIT_UUID ".iso.older");
    make(root, SEEDS, UNIT_UUID ".iso.0");
    make(root, SERVED, UNIT_UUID ".old/access");
    make(root, SERVED, UNIT_UUID ".new.1/access");
    find(root, &leftovers);
    for (size_t i = 0; i < leftovers.count; i++)
        fail_msg("%s/%s", leftovers.list[i].directory, leftovers.list[i].name);
}

static void
finds_all_that_virt_seed_makes(void **state)
{
    static const char *const seeds[] = {
        ".iso",
        ".iso.old",
        ".resumed",
        ".iso.made",
        ".shim",
        (".libvirt-" UNIT_UUID),
        ".iso.new.0123abcd",
    };
    static const char *const reports[] = {
        ".report", ".report.0", ".report.99", ".log", ".log.0", (".libvirt-" UNIT_UUID)};
    cleanup_leftovers struct leftovers leftovers = {0};
    int root = unit_directory(state);

    make(root, STATE, UNIT_UUID ".json");
    make(root, STATE, UNIT_UUID ".json.new.01234567");
    make(root, STATE, UNIT_UUID ".next");
    make(root, STATE, UNIT_UUID ".log");
    make(root, STATE, UNIT_UUID "." HOST_KEY_PUBLIC_NAME);
    make(root, STATE, "secrets/" UNIT_UUID "/" HOST_KEY_NAME);
    for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
        cleanup_free char *name = xasprintf("%s%s", UNIT_UUID, seeds[i]);

        make(root, SEEDS, name);
    }
    for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
        cleanup_free char *name = xasprintf("%s%s", UNIT_UUID, reports[i]);

        make(root, REPORTS, name);
    }
    make(root, SERVED, UNIT_UUID "/access");
    make(root, SERVED, UNIT_UUID ".new.0123abcd/access");
    find(root, &leftovers);
    assert_int_equal(leftovers.count, 21);
}

static void
removes_a_directory_with_all_that_is_in_it(void **state)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    cleanup_leftovers struct leftovers left = {0};
    struct failure *failure = NULL;
    int root = unit_directory(state);

    make(root, STATE, "secrets/" UNIT_UUID "/key");
    make(root, STATE, "secrets/" UNIT_UUID "/more/key");
    make(root, "victim", "kept");
    unit_make_link(root, &VIRT_SEED_STATEDIR "/secrets/" UNIT_UUID "/link"[1],
                   "../../../../../victim");
    find(root, &leftovers);
    for (size_t i = 0; i < leftovers.count; i++) {
        leftover_remove(root, &leftovers.list[i], &failure);
        assert_no_failure(failure);
        /* And once more, when it is gone. */
        leftover_remove(root, &leftovers.list[i], &failure);
        assert_no_failure(failure);
    }
    /* Nor is it a failure if its directory is gone, too. */
    assert_int_equal(unlinkat(root, &VIRT_SEED_STATEDIR "/secrets"[1], AT_REMOVEDIR), 0);
    leftover_remove(root, &leftovers.list[0], &failure);
    assert_no_failure(failure);
    find(root, &left);
    assert_int_equal(left.count, 0);
    assert_int_equal(faccessat(root, "victim/kept", F_OK, 0), 0);
}

static void
publish(int tree, const char *uuid)
{
    struct imds_mac mac = {"52:54:00:00:00:01", IMDS_LINK_NEIGHBOUR};
    char token[] = "0123456789abcdef0123456789abcdef";
    const struct seed seed = {0};
    const struct imds_domain domain = {
        .token = token, .macs = &mac, .mac_count = 1, .seed = &seed};
    struct failure *failure = NULL;

    imds_tree_publish(tree, uuid, &domain, &failure);
    assert_no_failure(failure);
}

static void
removes_all_that_is_served_of_a_domain(void **state)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    struct failure *failure = NULL;
    int root = unit_directory(state);
    cleanup_close int rundir = rundir_open(root, &failure);
    cleanup_close int tree = imds_tree_open(rundir, &failure);

    assert_no_failure(failure);
    publish(tree, UNIT_UUID);
    publish(tree, UNIT_OTHER_UUID);
    make(root, SERVED, UNIT_UUID ".new.0123abcd/access");
    find(root, &leftovers);
    assert_int_equal(leftovers.count, 3);
    for (size_t i = 0; i < leftovers.count; i++) {
        if (strcmp(leftovers.list[i].uuid, UNIT_UUID) == 0)
            leftover_remove(root, &leftovers.list[i], &failure);
        assert_no_failure(failure);
    }
    assert_int_not_equal(faccessat(tree, UNIT_UUID, F_OK, 0), 0);
    assert_int_not_equal(faccessat(tree, UNIT_UUID ".new.0123abcd", F_OK, 0), 0);
    /* And of others nothing. */
    assert_int_equal(faccessat(tree, UNIT_OTHER_UUID "/access", F_OK, 0), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(finds_nothing_where_nothing_is),
        unit_test_in_directory(finds_what_is_of_domains_those_of_one_side_by_side),
        unit_test_in_directory(leaves_alone_what_only_begins_with_a_uuid),
        unit_test_in_directory(finds_all_that_virt_seed_makes),
        unit_test_in_directory(removes_a_directory_with_all_that_is_in_it),
        unit_test_in_directory(removes_all_that_is_served_of_a_domain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
