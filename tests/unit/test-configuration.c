/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's configuration: store/configuration.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "store/configuration.h"
#include "unit.h"

#define CONFIG VIRT_SEED_CONFDIR "/virt-seed.conf"

/* The path below the test's directory. */
#define BELOW(path) ((path) + 1)

static void
assert_defaults(const struct config *config)
{
    assert_true(config->autowire);
    assert_false(config->warn_unwired);
    assert_int_equal(config->files.directory_count, 1);
    assert_string_equal(config->files.directories[0], VIRT_SEED_CONFDIR "/files");
}

static void
has_defaults_without_a_file(void **state)
{
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    config_read(&config, unit_directory(state), &failure);
    assert_no_failure(failure);
    assert_defaults(&config);
}

static void
has_defaults_where_the_file_says_nothing(void **state)
{
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    unit_make_file(unit_directory(state), BELOW(CONFIG), 0644,
                   "# comment\n\n   # another\n\t\n");
    config_read(&config, unit_directory(state), &failure);
    assert_no_failure(failure);
    assert_defaults(&config);
}

static void
reads_every_setting(void **state)
{
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    unit_make_file(unit_directory(state), BELOW(CONFIG), 0644,
                   "autowire = no\n"
                   "  unwired=warn # of a snapshot\r\n"
                   "file-directory\t=\t/srv/a b\n"
                   "file-directory = /srv/c");
    config_read(&config, unit_directory(state), &failure);
    assert_no_failure(failure);
    assert_false(config.autowire);
    assert_true(config.warn_unwired);
    assert_int_equal(config.files.directory_count, 3);
    assert_string_equal(config.files.directories[1], "/srv/a b");
    assert_string_equal(config.files.directories[2], "/srv/c");
}

static void
lets_the_last_line_count(void **state)
{
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    unit_make_file(unit_directory(state), BELOW(CONFIG), 0644,
                   "autowire = no\nautowire = yes\nunwired = warn\nunwired = refuse\n");
    config_read(&config, unit_directory(state), &failure);
    assert_no_failure(failure);
    assert_defaults(&config);
}

static void
refuses_what_it_does_not_know_and_keeps_the_rest(void **state)
{
    const char *const lines[] = {
        "autowire",         "autowire =",       "autowire = maybe",
        "autowire = No",    "imds-address = x", "file-directory = a",
        "file-directory =", "autowires = no",   "= no",
        "[section]",
    };

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        cleanup_config struct config config = {0};
        cleanup_free char *text = xasprintf("unwired = warn\nfile-directory = /srv\n%s\n"
                                            "vendor-data = base\nthis, too\n",
                                            lines[i]);
        struct failure *failure = NULL;

        unit_make_file(unit_directory(state), BELOW(CONFIG), 0644, text);
        assert_int_equal(config_read(&config, unit_directory(state), &failure), -1);
        assert_non_null(strstr(failure->message, "line 3"));
        assert_failure(&failure, FAILURE_CONFIG);
        assert_true(config.warn_unwired);
        assert_int_equal(config.files.directory_count, 2);
        assert_string_equal(config.vendor_data.value, "base");
        assert_false(config.autowire);
        assert_null(config.imds_address);
    }
}

static int
read_setting(void **state, const char *key, const char *value, struct config *config)
{
    cleanup_free char *text = xasprintf("%s = %s\n", key, value);
    struct failure *failure = NULL;
    int result;

    unit_make_file(unit_directory(state), BELOW(CONFIG), 0644, text);
    result = config_read(config, unit_directory(state), &failure);
    if (result < 0)
        assert_failure(&failure, FAILURE_CONFIG);
    return result;
}

static void
refuses_a_directory_with_the_secrets_however_it_is_written(void **state)
{
    static const char *const refused[] = {
        "/",
        "//",
        VIRT_SEED_CONFDIR,
        VIRT_SEED_CONFDIR "/",
        VIRT_SEED_CONFDIR "/secrets",
        VIRT_SEED_CONFDIR "//secrets/./web1",
        "/." VIRT_SEED_CONFDIR "/.",
        "/srv/a/b/c/d/e/f/g/h/i/j/k/l/../../etc",
        VIRT_SEED_CONFDIR "/files/../secrets",
    };
    static const char *const taken[] = {
        VIRT_SEED_CONFDIR "/secret",
        VIRT_SEED_CONFDIR "/secrets2",
        "/srv/..a/b..",
    };

    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        cleanup_config struct config config = {0};

        assert_int_equal(read_setting(state, "file-directory", refused[i], &config), -1);
    }
    for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
        cleanup_config struct config config = {0};

        assert_int_equal(read_setting(state, "file-directory", taken[i], &config), 0);
        assert_string_equal(config.files.directories[1], taken[i]);
    }
}

static void
takes_an_address_that_guests_can_reach_in_its_usual_form(void **state)
{
    static const struct {
        const char *value;
        const char *address; /* NULL: refused */
    } cases[] = {
        {"192.0.2.1", "192.0.2.1"},
        {"192.0.2.1:80", "192.0.2.1"},
        {"192.0.2.1:8080", "192.0.2.1:8080"},
        {"[FD00:0::1]", "[fd00::1]"},
        {"[fd00::1]:80", "[fd00::1]"},
        {"[fd00::1]:8080", "[fd00::1]:8080"},
        {"0.0.0.0", NULL},
        {"127.0.0.1:8080", NULL},
        {"224.0.0.1", NULL},
        {"255.255.255.255", NULL},
        {"[::]:80", NULL},
        {"[::1]", NULL},
        {"[::ffff:192.0.2.1]", NULL},
        {"[fe80::1]", NULL},
        {"[ff02::1]", NULL},
        {"192.0.2.1:0", NULL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_config struct config config = {0};
        int result = read_setting(state, "imds-address", cases[i].value, &config);

        assert_int_equal(result, cases[i].address ? 0 : -1);
        if (cases[i].address)
            assert_string_equal(config.imds_address, cases[i].address);
    }
}

static void
keeps_nothing_of_a_setting_that_a_mistake_repeats(void **state)
{
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    unit_make_file(unit_directory(state), BELOW(CONFIG), 0644,
                   "unwired = warn\nunwired = refuze\n"
                   "imds-address = 192.0.2.1\nimds-address = 192.0.2.2:80x\n");
    assert_int_equal(config_read(&config, unit_directory(state), &failure), -1);
    assert_failure(&failure, FAILURE_CONFIG);
    assert_false(config.warn_unwired);
    assert_null(config.imds_address);
}

static void
refuses_what_is_no_small_regular_file(void **state)
{
    cleanup_config struct config config = {0};
    const char whole[] = "vendor-data = base\n";
    cleanup_free char *large = xcalloc(1, LIMIT_CONFIG + 2);
    cleanup_failure struct failure *failure = NULL;
    int root = unit_directory(state);

    memset(large, '\n', LIMIT_CONFIG + 1);
    memcpy(large, whole, strlen(whole));
    unit_make_file(root, BELOW(CONFIG), 0644, large);
    assert_int_equal(config_read(&config, root, &failure), -1);
    assert_int_equal(failure->code, FAILURE_CONFIG);
    assert_false(config.autowire);
    assert_int_equal(config.files.directory_count, 1);
    assert_null(config.vendor_data.value);
    config_clear(&config);
    failure_free(steal(failure));

    assert_int_equal(unlinkat(root, BELOW(CONFIG), 0), 0);
    unit_make_directory(root, BELOW(CONFIG), 0755);
    assert_int_equal(config_read(&config, root, &failure), -1);
    assert_int_equal(failure->code, FAILURE_CONFIG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(has_defaults_without_a_file),
        unit_test_in_directory(has_defaults_where_the_file_says_nothing),
        unit_test_in_directory(reads_every_setting),
        unit_test_in_directory(lets_the_last_line_count),
        unit_test_in_directory(refuses_what_it_does_not_know_and_keeps_the_rest),
        unit_test_in_directory(
            refuses_a_directory_with_the_secrets_however_it_is_written),
        unit_test_in_directory(takes_an_address_that_guests_can_reach_in_its_usual_form),
        unit_test_in_directory(keeps_nothing_of_a_setting_that_a_mistake_repeats),
        unit_test_in_directory(refuses_what_is_no_small_regular_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
