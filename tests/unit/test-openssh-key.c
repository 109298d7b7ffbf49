/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys in the form of OpenSSH's files: seed/ssh-host-keys.h. What ssh-keygen says of them
 * is in tests/functional/host-keys.bats. */
#include "config.h"

#include <string.h>

#include <nettle/base64.h>

#include "base/memory.h"
#include "domain/part.h"
#include "seed/ssh-host-keys.h"
#include "unit.h"

/* RFC 8032, section 7.1, the first test: the secret, and the public key in ssh's form. */
static const uint8_t secret[OPENSSH_SECRET_SIZE] = {
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
    0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
    0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
};
#define PUBLIC                                                                           \
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea"

#define BEGIN "-----BEGIN OPENSSH PRIVATE KEY-----\n"
#define END "-----END OPENSSH PRIVATE KEY-----\n"

static void
has_the_public_key_that_belongs_to_the_secret(void **state)
{
    cleanup_buffer struct buffer file = {0};
    cleanup_free char *public = NULL;

    (void)state;
    openssh_key_append(&file, secret, 0x01020304);
    public = openssh_key_public(file.data);
    assert_string_equal(public, PUBLIC);
}

static void
is_text_between_two_lines(void **state)
{
    cleanup_buffer struct buffer file = {0};
    size_t longest = 0;

    (void)state;
    openssh_key_append(&file, secret, 0);
    assert_memory_equal(file.data, BEGIN, strlen(BEGIN));
    assert_string_equal(file.data + file.size - strlen(END), END);
    for (const char *line = file.data; *line; line += strcspn(line, "\n") + 1)
        longest = strcspn(line, "\n") > longest ? strcspn(line, "\n") : longest;
    assert_true(longest >= 64 && longest <= 70);
}

static void
is_the_same_for_the_same_secret_and_number(void **state)
{
    cleanup_buffer struct buffer one = {0};
    cleanup_buffer struct buffer other = {0};
    cleanup_buffer struct buffer third = {0};

    (void)state;
    openssh_key_append(&one, secret, 7);
    openssh_key_append(&other, secret, 7);
    openssh_key_append(&third, secret, 8);
    assert_string_equal(one.data, other.data);
    assert_string_not_equal(one.data, third.data);
}

/* Return: base64, owned by the caller (free). */
static char *
encode(const char *data, size_t size)
{
    char *text = xcalloc(1, BASE64_ENCODE_RAW_LENGTH(size) + 1);

    base64_encode_raw(text, size, (const uint8_t *)data);
    return text;
}

/* Every beginning of what the file holds, encoded. */
static void
is_not_read_when_it_is_cut_off(void **state)
{
    cleanup_buffer struct buffer file = {0};
    cleanup_buffer struct buffer content = {0};
    /* magic, cipher, kdf, its options, count, public key; behind that is the block */
    const size_t public_end = 15 + 8 + 8 + 4 + 4 + 55;

    (void)state;
    openssh_key_append(&file, secret, 0);
    *strstr(file.data, "-----END") = '\0';
    assert_int_equal(base64_append(&content, file.data + strlen(BEGIN)), 0);
    for (size_t size = 1; size <= content.size; size++) {
        cleanup_free char *encoded = NULL;
        cleanup_free char *text = NULL;
        cleanup_free char *public = NULL;

        encoded = encode(content.data, size);
        text = xasprintf(BEGIN "%s\n" END, encoded);
        public = openssh_key_public(text);
        if (size < public_end)
            assert_null(public);
        else
            assert_string_equal(public, PUBLIC);
    }
}

static void
is_not_read_in_another_form(void **state)
{
    static const char *const texts[] = {
        "",
        "ssh-ed25519 AAAA",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        BEGIN,
        BEGIN END,
        BEGIN "*\n" END,
        BEGIN "AAAA\n" END,
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_null(openssh_key_public(texts[i]));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_public_key_that_belongs_to_the_secret),
        cmocka_unit_test(is_text_between_two_lines),
        cmocka_unit_test(is_the_same_for_the_same_secret_and_number),
        cmocka_unit_test(is_not_read_when_it_is_cut_off),
        cmocka_unit_test(is_not_read_in_another_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
