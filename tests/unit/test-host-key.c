/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ssh host key that virt-seed makes for a domain: store/host-key.h. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/domain-secret.h"
#include "store/host-key.h"
#include "unit.h"

/* Paths relative to the test's directory. */
static const char *const state_directory = &VIRT_SEED_STATEDIR[1];
static const char *const secrets = &DOMAIN_SECRETS[1];

static void
prepare(void **state, const char *uuid)
{
    cleanup_unit_part struct part part = {0};
    struct failure *failure = NULL;

    host_key_prepare(unit_directory(state), uuid, true, &part, &failure);
    assert_no_failure(failure);
}

/* Return: the private key's file, owned by the caller (cleanup_buffer). */
static struct buffer
private_file(void **state, const char *uuid)
{
    cleanup_free char *path = xasprintf("%s/%s/" PART_HOST_KEY, secrets, uuid);

    return unit_read_file(unit_directory(state), path);
}

static void
assert_mode(void **state, const char *below, const char *name, mode_t expected)
{
    cleanup_free char *path = xasprintf("%s/%s", below, name);
    struct stat status;

    assert_int_equal(fstatat(unit_directory(state), path, &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, expected);
}

static void
is_made_once_and_stays(void **state)
{
    cleanup_buffer struct buffer before = {0};
    cleanup_buffer struct buffer after = {0};

    prepare(state, UNIT_UUID);
    before = private_file(state, UNIT_UUID);
    prepare(state, UNIT_UUID);
    after = private_file(state, UNIT_UUID);
    assert_string_equal(before.data, after.data);
}

#define STARTS 8

/* Waits for the others, makes or finds the key, and notes which. */
_Noreturn static void
start(void **state, int gate, int number)
{
    cleanup_unit_part struct part part = {0};
    cleanup_free char *note = xasprintf("start%d", number);
    struct failure *failure = NULL;
    char byte;

    while (read(gate, &byte, 1) < 0)
        ;
    if (host_key_prepare(unit_directory(state), UNIT_UUID, true, &part, &failure) < 0)
        _exit(1);
    unit_make_file(unit_directory(state), note, 0600, part.entries[0].data.data);
    _exit(0);
}

static void
is_one_for_starts_at_the_same_time(void **state)
{
    cleanup_buffer struct buffer key = {0};
    int gate[2];

    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < STARTS; i++) {
        if (fork() == 0) {
            close(gate[1]);
            start(state, gate[0], i);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < STARTS; i++) {
        int status;

        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    key = private_file(state, UNIT_UUID);
    for (int i = 0; i < STARTS; i++) {
        cleanup_free char *note = xasprintf("start%d", i);
        cleanup_buffer struct buffer seen = unit_read_file(unit_directory(state), note);

        assert_string_equal(seen.data, key.data);
    }
}

static void
is_another_for_each_domain(void **state)
{
    cleanup_buffer struct buffer one = {0};
    cleanup_buffer struct buffer other = {0};

    prepare(state, UNIT_UUID);
    prepare(state, UNIT_OTHER_UUID);
    one = private_file(state, UNIT_UUID);
    other = private_file(state, UNIT_OTHER_UUID);
    assert_string_not_equal(one.data, other.data);
}

static void
is_closed_to_others_but_for_its_public_half(void **state)
{
    umask(0);
    prepare(state, UNIT_UUID);
    assert_mode(state, state_directory, "", 0711);
    assert_mode(state, secrets, "", 0700);
    assert_mode(state, secrets, UNIT_UUID, 0700);
    assert_mode(state, secrets, UNIT_UUID "/" PART_HOST_KEY, 0600);
    assert_mode(state, state_directory, UNIT_UUID "." PART_HOST_KEY_PUBLIC, 0644);
}

static void
becomes_the_two_files_of_the_part(void **state)
{
    cleanup_unit_part struct part made = {0};
    cleanup_unit_part struct part part = {0};
    cleanup_unit_part struct part public = {0};
    struct failure *failure = NULL;

    host_key_prepare(unit_directory(state), UNIT_UUID, true, &made, &failure);
    assert_no_failure(failure);
    host_key_read(unit_directory(state), UNIT_UUID, false, &part, &failure);
    assert_no_failure(failure);
    assert_int_equal(made.entry_count, 2);
    assert_string_equal(made.entries[0].data.data, part.entries[0].data.data);
    assert_string_equal(made.entries[1].data.data, part.entries[1].data.data);
    host_key_read_public(unit_directory(state), UNIT_UUID, &public, &failure);
    assert_no_failure(failure);
    assert_int_equal(part.entry_count, 2);
    assert_string_equal(part.entries[0].key, PART_HOST_KEY);
    assert_string_equal(part.entries[1].key, PART_HOST_KEY_PUBLIC);
    assert_int_equal(public.entry_count, 1);
    assert_string_equal(public.entries[0].key, PART_HOST_KEY_PUBLIC);
    assert_string_equal(public.entries[0].data.data, part.entries[1].data.data);
}

static void
is_missed_where_it_may_not_be_made(void **state)
{
    cleanup_unit_part struct part part = {0};
    struct failure *failure = NULL;

    host_key_prepare(unit_directory(state), UNIT_UUID, false, &part, &failure);
    assert_failure(&failure, FAILURE_SECRET_MISSING);
    host_key_read(unit_directory(state), UNIT_UUID, false, &part, &failure);
    assert_failure(&failure, FAILURE_SECRET_MISSING);
    host_key_read_public(unit_directory(state), UNIT_UUID, &part, &failure);
    assert_failure(&failure, FAILURE_SECRET_MISSING);
    assert_int_equal(unit_count_entries(unit_directory(state)), 0);
}

/* Brought from another host, without the public one. */
static void
tells_its_public_half_wherever_it_came_from(void **state)
{
    cleanup_unit_part struct part part = {0};
    cleanup_unit_part struct part public = {0};
    cleanup_buffer struct buffer before = {0};
    const char *path = &VIRT_SEED_STATEDIR "/" UNIT_UUID "." PART_HOST_KEY_PUBLIC[1];
    struct failure *failure = NULL;

    prepare(state, UNIT_UUID);
    before = unit_read_file(unit_directory(state), path);
    unit_make_file(unit_directory(state), path, 0644, "ssh-ed25519 AAAA another\n");
    host_key_prepare(unit_directory(state), UNIT_UUID, false, &part, &failure);
    assert_no_failure(failure);
    host_key_read_public(unit_directory(state), UNIT_UUID, &public, &failure);
    assert_no_failure(failure);
    assert_string_equal(public.entries[0].data.data, before.data);
}

static void
is_refused_where_others_may_read_it(void **state)
{
    cleanup_free char *path = xasprintf("%s/" UNIT_UUID "/" PART_HOST_KEY, secrets);
    cleanup_unit_part struct part part = {0};
    struct failure *failure = NULL;

    prepare(state, UNIT_UUID);
    assert_int_equal(fchmodat(unit_directory(state), path, 0644, 0), 0);
    host_key_prepare(unit_directory(state), UNIT_UUID, true, &part, &failure);
    assert_failure(&failure, FAILURE_SECRET_MODE);
}

static void
is_not_replaced_when_it_is_damaged(void **state)
{
    cleanup_free char *path = xasprintf("%s/" UNIT_UUID "/" PART_HOST_KEY, secrets);
    cleanup_unit_part struct part part = {0};
    cleanup_buffer struct buffer after = {0};
    struct failure *failure = NULL;

    prepare(state, UNIT_UUID);
    unit_make_file(unit_directory(state), path, 0600, "");
    host_key_prepare(unit_directory(state), UNIT_UUID, true, &part, &failure);
    assert_failure(&failure, FAILURE_SSH_KEY);
    after = unit_read_file(unit_directory(state), path);
    assert_int_equal(after.size, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(is_made_once_and_stays),
        unit_test_in_directory(is_one_for_starts_at_the_same_time),
        unit_test_in_directory(is_another_for_each_domain),
        unit_test_in_directory(is_closed_to_others_but_for_its_public_half),
        unit_test_in_directory(becomes_the_two_files_of_the_part),
        unit_test_in_directory(is_missed_where_it_may_not_be_made),
        unit_test_in_directory(tells_its_public_half_wherever_it_came_from),
        unit_test_in_directory(is_refused_where_others_may_read_it),
        unit_test_in_directory(is_not_replaced_when_it_is_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
