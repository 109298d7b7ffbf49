/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that the guest's programs must understand: domain/guest-value.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "domain/guest-value.h"
#include "unit.h"

/* The lists end with NULL. */
static void
assert_all(bool (*is)(const char *text), const char *const *texts, bool expected)
{
    for (; *texts; texts++) {
        if (is(*texts) != expected)
            print_error("'%s'\n", *texts);
        assert_int_equal(is(*texts), expected);
    }
}

/* Text of that length, owned by the caller (free). */
static char *
repeat(char c, size_t length)
{
    char *text = xcalloc(1, length + 1);

    return memset(text, c, length);
}

static void
assert_limit(bool (*is)(const char *text), const char *prefix, size_t limit)
{
    cleanup_free char *most = repeat('a', limit - strlen(prefix));
    cleanup_free char *longest = xasprintf("%s%s", prefix, most);
    cleanup_free char *longer = xasprintf("%s%sa", prefix, most);

    assert_true(is(longest));
    assert_false(is(longer));
}

static void
takes_the_users_that_useradd_takes(void **state)
{
    const char *const good[] = {"root", "a",    "web.admin", "_apt", "Alice",
                                "pc$",  "0day", "a-b_c",     NULL};
    const char *const bad[] = {"",     "-rf", "a b", "a:b",     "a\nb",     "a/b", "..",
                               "1000", "$",   "a$b", "default", "\xc3\xa4", "a,b", NULL};

    (void)state;
    assert_all(guest_value_is_user_name, good, true);
    assert_all(guest_value_is_user_name, bad, false);
    assert_limit(guest_value_is_user_name, "", LIMIT_USER_NAME);
}

static void
takes_names_of_the_zone_database(void **state)
{
    const char *const good[] = {
        "UTC", "Asia/Jerusalem", "Etc/GMT+1", "EST5EDT", "America/Argentina/Buenos_Aires",
        NULL};
    const char *const bad[] = {"",
                               "../UTC",
                               "/etc/localtime",
                               "Asia//Tokyo",
                               "Asia/",
                               "GMT Standard Time",
                               "a\tb",
                               "UTC\n",
                               ".",
                               NULL};

    (void)state;
    assert_all(guest_value_is_timezone, good, true);
    assert_all(guest_value_is_timezone, bad, false);
    assert_limit(guest_value_is_timezone, "", LIMIT_GUEST_NAME);
}

static void
takes_names_of_locales(void **state)
{
    const char *const good[] = {"C", "C.UTF-8", "de_DE.UTF-8@euro", "POSIX", NULL};
    const char *const bad[] = {"", "en US", "en_US;", "../C", ".C", "-C", "a/b", NULL};

    (void)state;
    assert_all(guest_value_is_locale, good, true);
    assert_all(guest_value_is_locale, bad, false);
    assert_limit(guest_value_is_locale, "", LIMIT_GUEST_NAME);
}

static void
takes_absolute_paths_that_are_normal(void **state)
{
    const char *const good[] = {"/a",  "/etc/motd", "/a b/\xc3\xa4", "/...",
                                "/.a", "/..a",      "/a..",          NULL};
    const char *const bad[] = {
        "",     "/",     "a",       "a/b",   "/a/",   "//a",    "/a//b",     "/./a",
        "/a/.", "/../a", "/a/../b", "/a/..", "/a\nb", "/a\x7f", "/\xc2\x85", NULL};

    (void)state;
    assert_all(guest_value_is_path, good, true);
    assert_all(guest_value_is_path, bad, false);
    assert_limit(guest_value_is_path, "/", LIMIT_PATH);
}

static void
takes_urls_of_the_web(void **state)
{
    const char *const good[] = {"http://a", "https://a.example/b?c=d#e",
                                "HTTP://[2001:db8::1]:80/", "http://u:p@a/$INSTANCE_ID",
                                NULL};
    const char *const bad[] = {"",
                               "a.example",
                               "ftp://a",
                               "http:///a",
                               "http://",
                               "http://:1",
                               "http://a b",
                               "http://a\n",
                               "http://\xc3\xa4",
                               "http://a\"",
                               "file:///etc/passwd",
                               NULL};

    (void)state;
    assert_all(guest_value_is_url, good, true);
    assert_all(guest_value_is_url, bad, false);
    assert_limit(guest_value_is_url, "http://", LIMIT_URL);
}

/* --- hostname --- */

static void
takes_names_of_one_or_several_labels(void **state)
{
    const char *const names[] = {
        "web1",       "web1.example.org",     "WEB-1", "1", "a", "3com.example", "1.2.3",
        "192.0.2.1a", "xn--bcher-kva.example"};
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        hostname_check(names[i], &failure);
        assert_no_failure(failure);
    }
}

static void
refuses_what_is_no_host_name(void **state)
{
    const char *const names[] = {
        "",         ".",         "a.",        ".a",    "a..b", "-a",
        "a-",       "a.-b",      "a_b",       "a b",   "a\nb", "b\xc3\xbc",
        "a;reboot", "$(reboot)", "192.0.2.1", "web1/", "a,b"};
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        assert_int_equal(hostname_check(names[i], &failure), -1);
        assert_failure(&failure, FAILURE_HOSTNAME);
    }
}

static void
knows_the_limits_of_labels_and_names(void **state)
{
    struct failure *failure = NULL;
    char name[512] = "";

    (void)state;
    memset(name, 'a', 63);
    hostname_check(name, &failure);
    assert_no_failure(failure);
    name[63] = 'a';
    assert_int_equal(hostname_check(name, &failure), -1);
    assert_failure(&failure, FAILURE_HOSTNAME);

    memset(name, 'a', 253);
    name[63] = name[127] = name[191] = '.';
    hostname_check(name, &failure);
    assert_no_failure(failure);
    name[253] = 'a';
    assert_int_equal(hostname_check(name, &failure), -1);
    assert_failure(&failure, FAILURE_HOSTNAME);
}

static void
makes_a_host_name_of_the_domains_name(void **state)
{
    const struct {
        const char *name;
        const char *hostname;
    } cases[] = {
        {"web1", "web1"},
        {"Web_1", "web-1"},
        {"web1.example.org", "web1-example-org"},
        {"  my vm  ", "my-vm"},
        {"--x--", "x"},
        {"b\xc3\xbc"
         "cher",
         "b-cher"},
        {"bh \xc3\xbc"
         "mlaut vm",
         "bh--mlaut-vm"},
        {"a\xf0\x9f\x98\x80z", "a-z"},
        {"\xc3\xbc", "vm-4dea22b3"},
        {"___", "vm-4dea22b3"},
        {"", "vm-4dea22b3"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *hostname =
            hostname_from_domain(cases[i].name, UNIT_UUID, false);

        assert_string_equal(hostname, cases[i].hostname);
    }
}

static void
makes_a_host_name_that_passes_its_own_check(void **state)
{
    char name[201] = "";
    struct failure *failure = NULL;

    (void)state;
    /* What is cut off may leave a dash at the end. */
    for (size_t length = 1; length < sizeof(name) - 1; length++) {
        cleanup_free char *hostname = NULL;

        memset(name, 'a', length);
        name[length - 1] = '-';
        name[length] = 'b';
        hostname = hostname_from_domain(name, UNIT_UUID, false);
        hostname_check(hostname, &failure);
        assert_no_failure(failure);
    }
}

/* --- ssh-key --- */

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
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
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
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
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
    assert_non_null(strstr(failure->hint, "as compromised"));
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
        cmocka_unit_test(takes_the_users_that_useradd_takes),
        cmocka_unit_test(takes_names_of_the_zone_database),
        cmocka_unit_test(takes_names_of_locales),
        cmocka_unit_test(takes_absolute_paths_that_are_normal),
        cmocka_unit_test(takes_urls_of_the_web),
        cmocka_unit_test(takes_names_of_one_or_several_labels),
        cmocka_unit_test(refuses_what_is_no_host_name),
        cmocka_unit_test(knows_the_limits_of_labels_and_names),
        cmocka_unit_test(makes_a_host_name_of_the_domains_name),
        cmocka_unit_test(makes_a_host_name_that_passes_its_own_check),
        cmocka_unit_test(takes_the_lines_that_sshd_takes),
        cmocka_unit_test(refuses_what_is_no_public_key),
        cmocka_unit_test(refuses_a_private_key_and_does_not_repeat_it),
        cmocka_unit_test(refuses_a_line_that_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
