/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The passwords that virt-seed keeps for a domain: host/domain-secret.h. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/names.h"
#include "host/domain-secret.h"
#include "store/secret-write.h"
#include "unit.h"

/* Paths relative to the test's directory. */
static const char *const directory = &VIRT_SEED_STATEDIR "/secrets"
                                                         "/" UNIT_UUID[1];
static const char *const file = &VIRT_SEED_STATEDIR "/secrets"
                                                    "/" UNIT_UUID "/password"[1];

/* Writes the hashes, of which one may be NULL, and publishes them or not. */
static void
store(void **state, const char *user, const char *root, bool publishes)
{
    cleanup_new_passwords struct new_passwords passwords = NEW_PASSWORDS_NONE;
    struct failure *failure = NULL;

    passwords.hashes[PASSWORD_OF_USER] = user ? xstrdup(user) : NULL;
    passwords.hashes[PASSWORD_OF_ROOT] = root ? xstrdup(root) : NULL;
    new_passwords_write(&passwords, unit_directory(state), UNIT_UUID, &failure);
    assert_no_failure(failure);
    if (publishes)
        new_passwords_publish(&passwords, &failure);
    assert_no_failure(failure);
}

static void
assert_kept(void **state, const char *hash)
{
    cleanup_buffer struct buffer content = unit_read_file(unit_directory(state), file);

    assert_string_equal(content.data, hash);
}

static size_t
count_kept(void **state)
{
    cleanup_close int fd = fs_open_directory_in_root(unit_directory(state), directory);

    assert_true(fd >= 0);
    return unit_count_entries(fd);
}

static void
a_new_hash_replaces_the_old_one_only_when_published(void **state)
{
    struct stat status;

    store(state, "$6$one", NULL, true);
    store(state, "$6$two", "$6$root", false);
    assert_kept(state, "$6$one");
    assert_int_equal(count_kept(state), 1);
    store(state, "$6$three", NULL, true);
    assert_kept(state, "$6$three");
    assert_int_equal(fstatat(unit_directory(state), file, &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(fstatat(unit_directory(state), directory, &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
}

static void
writes_through_no_symbolic_link(void **state)
{
    cleanup_new_passwords struct new_passwords passwords = NEW_PASSWORDS_NONE;
    struct failure *failure = NULL;
    cleanup_close int secrets =
        fs_make_directories(unit_directory(state), VIRT_SEED_STATEDIR "/secrets", 0700);

    assert_true(secrets >= 0);
    unit_make_directory(unit_directory(state), "elsewhere", 0700);
    unit_make_link(unit_directory(state), directory, "/elsewhere");
    passwords.hashes[PASSWORD_OF_USER] = xstrdup("$6$one");
    assert_int_equal(
        new_passwords_write(&passwords, unit_directory(state), UNIT_UUID, &failure), -1);
    assert_failure(&failure, FAILURE_SECRET);
}

static void
what_is_not_asked_for_is_removed_but_the_host_key_stays(void **state)
{
    struct parts parts = {0};

    store(state, "$6$one", "$6$two", true);
    unit_make_file(unit_directory(state),
                   &VIRT_SEED_STATEDIR "/secrets"
                                       "/" UNIT_UUID "/key"[1],
                   0600, "key");
    parts_add_kept(&parts, PART_PASSWORD, PART_STORED, PASSWORD_NAME, NULL);
    passwords_remove_unused(unit_directory(state), UNIT_UUID, &parts);
    assert_int_equal(count_kept(state), 2);
    assert_kept(state, "$6$one");
    parts_clear(&parts);
    passwords_remove_unused(unit_directory(state), UNIT_UUID, &parts);
    assert_int_equal(count_kept(state), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(a_new_hash_replaces_the_old_one_only_when_published),
        unit_test_in_directory(writes_through_no_symbolic_link),
        unit_test_in_directory(what_is_not_asked_for_is_removed_but_the_host_key_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
