/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ssh host key that virt-seed makes for a domain: host/host-key.h. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/names.h"
#include "host/answer.h"
#include "host/domain-secret.h"
#include "host/host-key.h"
#include "store/pipeline.h"
#include "unit.h"

/* Paths relative to the test's directory. */
static const char *const state_directory = &VIRT_SEED_STATEDIR[1];
static const char *const secrets = &VIRT_SEED_STATEDIR "/secrets"[1];

/* Starts a domain that asks for a key: what the hook does with it. */
static int
begin(void **state, const char *uuid, bool resumes, struct failure **failure)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_config struct config config = {0};
    cleanup_needs struct needs needs = {0};
    cleanup_host_key struct host_key key = {0};
    cleanup_free char *xml =
        xasprintf("<domain type='kvm'><name>web1</name><uuid>%s</uuid><metadata>"
                  "<ci:cloud-init xmlns:ci='" REQUEST_NAMESPACE "' "
                  "ssh-host-keys='generate'/></metadata></domain>",
                  uuid);
    const struct pipeline pipeline = {.policy =
                                          resumes ? PIPELINE_RESUME : PIPELINE_COLD_BOOT,
                                      .config = &config,
                                      .key = &key};
    struct answerer answerer = {.root = unit_directory(state),
                                .config = &config.files,
                                .domain = {.uuid = uuid, .name = "web1"},
                                .may_make_key = !resumes};
    const struct host host = answerer_host(&answerer);

    unit_domain_read(&unit, xml);
    if (pipeline_begin(&pipeline, &host, &unit.domain, &unit.request, &needs, failure) <
        0)
        return -1;
    host.answer(host.data, &needs);
    if (pipeline_finish(&pipeline, &unit.request, &needs, failure) < 0)
        return -1;
    return host_key_publish(unit_directory(state), uuid, &key, failure);
}

static void
prepare(void **state, const char *uuid)
{
    struct failure *failure = NULL;

    begin(state, uuid, false, &failure);
    assert_no_failure(failure);
}

/* Return: the private key's file, owned by the caller (cleanup_buffer). */
static struct buffer
private_file(void **state, const char *uuid)
{
    cleanup_free char *path = xasprintf("%s/%s/" HOST_KEY_NAME, secrets, uuid);

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

static void
is_not_replaced_by_another_new_one(void **state)
{
    cleanup_host_key struct host_key key = {0};
    cleanup_buffer struct buffer before = {0};
    cleanup_buffer struct buffer after = {0};
    struct failure *failure = NULL;

    prepare(state, UNIT_UUID);
    before = private_file(state, UNIT_UUID);
    buffer_append_string(&key.private, "another");
    assert_int_equal(host_key_publish(unit_directory(state), UNIT_UUID, &key, &failure),
                     -1);
    assert_failure(&failure, FAILURE_SECRET);
    after = private_file(state, UNIT_UUID);
    assert_string_equal(before.data, after.data);
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
    assert_mode(state, secrets, UNIT_UUID "/" HOST_KEY_NAME, 0600);
    assert_mode(state, state_directory, UNIT_UUID "." HOST_KEY_PUBLIC_NAME, 0644);
}

static void
is_missed_where_it_may_not_be_made(void **state)
{
    struct failure *failure = NULL;

    begin(state, UNIT_UUID, true, &failure);
    assert_failure(&failure, FAILURE_SECRET_MISSING);
    assert_int_equal(unit_count_entries(unit_directory(state)), 0);
}

/* Brought from another host, without the public one. */
static void
tells_its_public_half_wherever_it_came_from(void **state)
{
    cleanup_buffer struct buffer before = {0};
    cleanup_buffer struct buffer after = {0};
    const char *path = &VIRT_SEED_STATEDIR "/" UNIT_UUID "." HOST_KEY_PUBLIC_NAME[1];
    struct failure *failure = NULL;

    prepare(state, UNIT_UUID);
    before = unit_read_file(unit_directory(state), path);
    unit_make_file(unit_directory(state), path, 0644, "ssh-ed25519 AAAA another\n");
    begin(state, UNIT_UUID, true, &failure);
    assert_no_failure(failure);
    after = unit_read_file(unit_directory(state), path);
    assert_string_equal(after.data, before.data);
}

static void
is_refused_where_others_may_read_it(void **state)
{
    cleanup_free char *path = xasprintf("%s/" UNIT_UUID "/" HOST_KEY_NAME, secrets);
    struct failure *failure = NULL;

    prepare(state, UNIT_UUID);
    assert_int_equal(fchmodat(unit_directory(state), path, 0644, 0), 0);
    begin(state, UNIT_UUID, false, &failure);
    assert_failure(&failure, FAILURE_SECRET_MODE);
}

static void
is_not_replaced_when_it_is_damaged(void **state)
{
    cleanup_free char *path = xasprintf("%s/" UNIT_UUID "/" HOST_KEY_NAME, secrets);
    cleanup_buffer struct buffer after = {0};
    struct failure *failure = NULL;

    prepare(state, UNIT_UUID);
    unit_make_file(unit_directory(state), path, 0600, "");
    begin(state, UNIT_UUID, false, &failure);
    assert_failure(&failure, FAILURE_SSH_KEY);
    after = unit_read_file(unit_directory(state), path);
    assert_int_equal(after.size, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(is_made_once_and_stays),
        unit_test_in_directory(is_not_replaced_by_another_new_one),
        unit_test_in_directory(is_another_for_each_domain),
        unit_test_in_directory(is_closed_to_others_but_for_its_public_half),
        unit_test_in_directory(is_missed_where_it_may_not_be_made),
        unit_test_in_directory(tells_its_public_half_wherever_it_came_from),
        unit_test_in_directory(is_refused_where_others_may_read_it),
        unit_test_in_directory(is_not_replaced_when_it_is_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
