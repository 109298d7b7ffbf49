/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of an authorized_keys file: domain/ssh-key.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/ssh-key.h"
#include "unit.h"

static void
takes_the_lines_that_sshd_takes(void **state)
{
    const char *const lines[] = {
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVG alice@example.org",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVG",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ== a comment of several words",
        "ssh-dss AAAAB3NzaC1kc3M",
        "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY",
        "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t",
        "sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTY",
        "no-pty ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
        "command=\"/bin/echo a b\",no-pty ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 x",
        "ssh-ed25519\tAAAAC3NzaC1lZDI1NTE5",
    };
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        ssh_key_check(lines[i], &failure);
        assert_no_failure(failure);
    }
}

static void
refuses_what_is_no_public_key(void **state)
{
    const char *const lines[] = {
        "",
        "alice",
        "ssh-ed25519",
        "ssh-ed25519 alice@example.org",
        "AAAAC3NzaC1lZDI1NTE5 ssh-ed25519",
        "https://example.org/alice.keys",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
        "# ssh-ed25519 is the type",
    };
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_int_equal(ssh_key_check(lines[i], &failure), -1);
        assert_failure(&failure, FAILURE_SSH_KEY);
    }
}

static void
refuses_a_private_key_and_does_not_repeat_it(void **state)
{
    const char *key = "-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXktdjE";
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_int_equal(ssh_key_check(key, &failure), -1);
    assert_int_equal(failure->code, FAILURE_SSH_KEY);
    assert_null(strstr(failure->message, "b3Blbn"));
    assert_non_null(strstr(failure->hint, "known to others"));
}

static void
refuses_a_line_that_is_too_long(void **state)
{
    cleanup_free char *line = xcalloc(1, LIMIT_SSH_KEY + 2);
    struct failure *failure = NULL;

    (void)state;
    memset(line, 'A', LIMIT_SSH_KEY);
    memcpy(line, "ssh-rsa ", 8);
    ssh_key_check(line, &failure);
    assert_no_failure(failure);
    line[LIMIT_SSH_KEY] = 'A';
    assert_int_equal(ssh_key_check(line, &failure), -1);
    assert_failure(&failure, FAILURE_SSH_KEY);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_lines_that_sshd_takes),
        cmocka_unit_test(refuses_what_is_no_public_key),
        cmocka_unit_test(refuses_a_private_key_and_does_not_repeat_it),
        cmocka_unit_test(refuses_a_line_that_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
