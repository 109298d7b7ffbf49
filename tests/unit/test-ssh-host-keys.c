/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the guest's sshd: seed/ssh-host-keys.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "seed/json.h"
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_ssh_keygen_writes),
        cmocka_unit_test(refuses_everything_else_and_repeats_none_of_it),
        cmocka_unit_test(refuses_a_key_that_is_too_long),
        cmocka_unit_test(has_cloud_inits_names_and_ends_the_last_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
