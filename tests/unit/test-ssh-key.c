/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that ssh-keygen cannot make without a security key: domain/ssh-key.h. Those that it can
 * make are compared with what it says of them in tests/functional/ssh-keys.bats. */
#include "config.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "domain/part.h"
#include "domain/ssh-key.h"
#include "unit.h"

#define APPLICATION "ssh:"

static void
add_field(struct buffer *blob, const void *data, size_t size)
{
    const uint32_t length = htobe32((uint32_t)size);

    buffer_append(blob, &length, sizeof(length));
    buffer_append(blob, data, size);
}

static void
add_text(struct buffer *blob, const char *text)
{
    add_field(blob, text, strlen(text));
}

/* Adds a point, or with another `first` byte what is none. */
static void
add_point(struct buffer *blob, size_t size, char first)
{
    cleanup_free char *point = xcalloc(1, size);

    point[0] = first;
    add_field(blob, point, size);
}

/* Asserts whether it is a key, and clears the blob. */
static void
assert_key(const char *type, struct buffer *blob, bool expected)
{
    cleanup_buffer struct buffer line = {0};
    struct failure *failure = NULL;

    buffer_printf(&line, "%s ", type);
    base64_encode(&line, blob->data, blob->size, 0);
    buffer_append_string(&line, " a comment");
    buffer_clear(blob);
    assert_int_equal(ssh_key_decode(line.data, &failure), expected ? 0 : -1);
    if (expected)
        assert_no_failure(failure);
    else
        assert_failure(&failure, FAILURE_SSH_KEY);
}

static void
takes_keys_of_security_keys(void **state)
{
    const char *ed25519 = "sk-ssh-ed25519@openssh.com";
    const char *ecdsa = "sk-ecdsa-sha2-nistp256@openssh.com";
    struct buffer blob = {0};

    (void)state;
    add_text(&blob, ed25519);
    add_point(&blob, 32, 'x');
    add_text(&blob, APPLICATION);
    assert_key(ed25519, &blob, true);
    add_text(&blob, ecdsa);
    add_text(&blob, "nistp256");
    add_point(&blob, 65, 4);
    add_text(&blob, APPLICATION);
    assert_key(ecdsa, &blob, true);
}

static void
refuses_other_fields(void **state)
{
    const char *ed25519 = "sk-ssh-ed25519@openssh.com";
    const char *ecdsa = "ecdsa-sha2-nistp256";
    struct buffer blob = {0};

    (void)state;
    /* No application. */
    add_text(&blob, ed25519);
    add_point(&blob, 32, 'x');
    assert_key(ed25519, &blob, false);
    /* A byte less. */
    add_text(&blob, ed25519);
    add_point(&blob, 31, 'x');
    add_text(&blob, APPLICATION);
    assert_key(ed25519, &blob, false);
    /* Another curve, a compressed point, a point of another size. */
    add_text(&blob, ecdsa);
    add_text(&blob, "nistp384");
    add_point(&blob, 65, 4);
    assert_key(ecdsa, &blob, false);
    add_text(&blob, ecdsa);
    add_text(&blob, "nistp256");
    add_point(&blob, 65, 2);
    assert_key(ecdsa, &blob, false);
    add_text(&blob, ecdsa);
    add_text(&blob, "nistp256");
    add_point(&blob, 97, 4);
    assert_key(ecdsa, &blob, false);
    add_text(&blob, ecdsa);
    add_text(&blob, "nistp256");
    add_field(&blob, "", 0);
    assert_key(ecdsa, &blob, false);
}

static void
refuses_a_length_beyond_the_end(void **state)
{
    const uint32_t huge = htobe32(UINT32_MAX);
    struct buffer blob = {0};

    (void)state;
    add_text(&blob, "ssh-ed25519");
    buffer_append(&blob, &huge, sizeof(huge));
    assert_key("ssh-ed25519", &blob, false);
    buffer_append(&blob, &huge, sizeof(huge));
    assert_key("ssh-ed25519", &blob, false);
    buffer_append(&blob, "\0\0\0", 3);
    assert_key("ssh-ed25519", &blob, false);
    assert_key("ssh-ed25519", &blob, false);
}

static void
finds_the_end_of_options(void **state)
{
    static const struct {
        const char *line;
        const char *rest;
    } cases[] = {
        {"no-pty ssh-rsa", " ssh-rsa"},
        {"a=\"b c\",d\tssh-rsa", "\tssh-rsa"},
        {"a=\"say \\\"b c\\\" d\" ssh-rsa", " ssh-rsa"},
        {"a=\"b ssh-rsa", ""},
        {"a\\", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_string_equal(ssh_key_skip_options(cases[i].line), cases[i].rest);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_keys_of_security_keys),
        cmocka_unit_test(refuses_other_fields),
        cmocka_unit_test(refuses_a_length_beyond_the_end),
        cmocka_unit_test(finds_the_end_of_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
