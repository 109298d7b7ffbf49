/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the guest's sshd: seed/ssh-host-keys.h. What ssh-keygen says of those that
 * are made is in tests/functional/host-keys.bats. */
#include "config.h"

#include <string.h>

#include <nettle/base64.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/part.h"
#include "seed/ssh-host-keys.h"
#include "unit.h"

#define PRIVATE                                                                          \
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"                                              \
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n"                                       \
    "-----END OPENSSH PRIVATE KEY-----\n"
#define PASSPHRASE                                                                       \
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"                                              \
    "b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAA\n"                                       \
    "-----END OPENSSH PRIVATE KEY-----\n"

/* A secret of up to three files. */
struct file {
    const char *name;
    const char *content;
};

static struct part
make_part(const struct file *files, size_t count)
{
    struct part part = {.kind = PART_SSH_HOST_KEYS, .origin = PART_SECRET};

    for (size_t i = 0; i < count && files[i].name; i++)
        buffer_append_string(part_add_entry(&part, files[i].name), files[i].content);
    return part;
}

static int
check(const struct part *part, struct failure **failure)
{
    for (size_t i = 0; i < part->entry_count; i++) {
        if (ssh_host_key_check(part, &part->entries[i], failure) < 0)
            return -1;
    }
    return 0;
}

static void
takes_what_ssh_keygen_writes(void **state)
{
    static const struct file cases[][3] = {
        {{"ssh_host_ed25519_key", PRIVATE},
         {"ssh_host_ed25519_key-cert.pub", "ssh-ed25519-cert-v01@openssh.com AAAA c\n"},
         {"ssh_host_ed25519_key.pub", "ssh-ed25519 AAAA c\n"}},
        {{"ssh_host_ecdsa_key", PRIVATE},
         {"ssh_host_ecdsa_key.pub", "ecdsa-sha2-nistp256 AAAA"}},
        {{"ssh_host_rsa_key", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n"
                              "-----END RSA PRIVATE KEY-----\n"},
         {"ssh_host_rsa_key.pub", "ssh-rsa AAAA c d\n"}},
        {{"ssh_host_rsa_key", "-----BEGIN PRIVATE KEY-----\nAAAA\n"
                              "-----END PRIVATE KEY-----"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_unit_part struct part part = make_part(cases[i], 3);
        struct failure *failure = NULL;

        check(&part, &failure);
        assert_no_failure(failure);
    }
}

static void
refuses_everything_else_and_repeats_none_of_it(void **state)
{
    static const struct file cases[][3] = {
        {{"ssh_host_dsa_key", PRIVATE}},
        {{"ssh_host_ed25519_key2", PRIVATE}},
        {{"id_ed25519", PRIVATE}},
        {{"ssh_host_ed25519_key", "hunter2"}},
        {{"ssh_host_ed25519_key", ""}},
        {{"ssh_host_ed25519_key", "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n"}},
        {{"ssh_host_ed25519_key", PASSPHRASE}},
        {{"ssh_host_rsa_key", "-----BEGIN RSA PRIVATE KEY-----\n"
                              "Proc-Type: 4,ENCRYPTED\nhunter2\n"
                              "-----END RSA PRIVATE KEY-----\n"}},
        {{"ssh_host_rsa_key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nhunter2\n"
                              "-----END ENCRYPTED PRIVATE KEY-----\n"}},
        {{"ssh_host_ed25519_key", PRIVATE "hunter2\xff"}},
        {{"ssh_host_ed25519_key.pub", "ssh-ed25519 AAAA hunter2\n"}},
        {{"ssh_host_ed25519_key", PRIVATE},
         {"ssh_host_rsa_key.pub", "ssh-rsa AAAA hunter2\n"}},
        {{"ssh_host_ed25519_key", PRIVATE},
         {"ssh_host_ed25519_key.pub", "ssh-rsa AAAA hunter2\n"}},
        {{"ssh_host_ed25519_key", PRIVATE},
         {"ssh_host_ed25519_key.pub", "ssh-ed25519 hunter2\n"}},
        {{"ssh_host_ed25519_key", PRIVATE},
         {"ssh_host_ed25519_key.pub", "ssh-ed25519 AAAA\nssh-ed25519 AAAA hunter2\n"}},
        {{"ssh_host_ed25519_key", PRIVATE}, {"ssh_host_ed25519_key.pub", PRIVATE}},
        {{"ssh_host_ed25519_key", PRIVATE},
         {"ssh_host_ed25519_key-cert.pub", "ssh-ed25519 AAAA hunter2\n"}},
        {{"ssh_host_ed25519_key", PRIVATE},
         {"ssh_host_ed25519_key.pub", "ssh-ed25519-cert-v01@openssh.com AAAA hunter2\n"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_unit_part struct part part = make_part(cases[i], 3);
        struct failure *failure = NULL;

        if (check(&part, &failure) == 0)
            print_error("taken: case %zu\n", i);
        else
            assert_null(strstr(failure->message, "hunter2"));
        assert_failure(&failure, FAILURE_SSH_KEY);
    }
}

static void
refuses_a_key_that_is_too_long(void **state)
{
    const struct file files[] = {{"ssh_host_ed25519_key", PRIVATE}};
    cleanup_unit_part struct part part = make_part(files, 1);
    struct buffer *data = &part.entries[0].data;
    struct failure *failure = NULL;

    (void)state;
    while (data->size < LIMIT_SSH_KEY)
        buffer_append_string(data, "\n");
    check(&part, &failure);
    assert_no_failure(failure);
    buffer_append_string(data, "\n");
    check(&part, &failure);
    assert_failure(&failure, FAILURE_SSH_KEY);
}

static void
has_cloud_inits_names_and_ends_the_last_line(void **state)
{
    const struct file files[] = {{"ssh_host_rsa_key", "a\nb"},
                                 {"ssh_host_rsa_key-cert.pub", "c\n"},
                                 {"ssh_host_rsa_key.pub", "d"}};
    cleanup_unit_part struct part part = make_part(files, 3);
    cleanup_json json_t *json = ssh_host_keys_to_json(&part);
    cleanup_free char *text = json_dumps(json, JSON_COMPACT);

    (void)state;
    assert_string_equal(text,
                        "{\"rsa_private\":\"a\\nb\\n\",\"rsa_certificate\":\"c\\n\","
                        "\"rsa_public\":\"d\\n\"}");
}

/* --- OpenSSH's own form ----------------------------------------------------------- */

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
a_made_key_has_the_public_key_of_its_secret(void **state)
{
    cleanup_buffer struct buffer file = {0};
    cleanup_free char *public = NULL;

    (void)state;
    openssh_key_append(&file, secret, 0x01020304);
    public = openssh_key_public(file.data);
    assert_string_equal(public, PUBLIC);
}

static void
a_made_key_is_text_between_two_lines(void **state)
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
the_same_secret_and_number_make_the_same_key(void **state)
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
has_no_public_key_if_the_file_is_cut_off(void **state)
{
    cleanup_buffer struct buffer file = {0};
    cleanup_buffer struct buffer content = {0};
    /* magic, cipher, kdf, its options, count, public key; then the block */
    const size_t public_end = 15 + 8 + 8 + 4 + 4 + 55;

    (void)state;
    openssh_key_append(&file, secret, 0);
    *strstr(file.data, "-----END") = '\0';
    assert_int_equal(base64_decode(&content, file.data + strlen(BEGIN)), 0);
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
has_no_public_key_if_the_file_has_another_form(void **state)
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
        cmocka_unit_test(takes_what_ssh_keygen_writes),
        cmocka_unit_test(refuses_everything_else_and_repeats_none_of_it),
        cmocka_unit_test(refuses_a_key_that_is_too_long),
        cmocka_unit_test(has_cloud_inits_names_and_ends_the_last_line),
        cmocka_unit_test(a_made_key_has_the_public_key_of_its_secret),
        cmocka_unit_test(a_made_key_is_text_between_two_lines),
        cmocka_unit_test(the_same_secret_and_number_make_the_same_key),
        cmocka_unit_test(has_no_public_key_if_the_file_is_cut_off),
        cmocka_unit_test(has_no_public_key_if_the_file_has_another_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
