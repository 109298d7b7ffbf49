/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that the guest's programs must understand: domain/guest-value.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_users_that_useradd_takes),
        cmocka_unit_test(takes_names_of_the_zone_database),
        cmocka_unit_test(takes_names_of_locales),
        cmocka_unit_test(takes_absolute_paths_that_are_normal),
        cmocka_unit_test(takes_urls_of_the_web),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
