/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a request that come from files and secrets: store/pipeline.h. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "store/pipeline.h"
#include "unit.h"

/* Paths relative to the test's directory. */
static const char *const files = &VIRT_SEED_CONFDIR "/files"[1];
static const char *const secrets = &VIRT_SEED_CONFDIR "/secrets"[1];

/* Reads <ci:cloud-init>ELEMENT</ci:cloud-init> and resolves it with the configuration. */
static int
resolve(void **state, struct unit_domain *unit, const char *element,
        const struct config *config, struct failure **failure)
{
    cleanup_free char *request = xasprintf("<ci:cloud-init>%s</ci:cloud-init>", element);

    unit_request_read(unit, request, failure);
    assert_no_failure(*failure);
    request_clear(&unit->request);
    /* Which does not ask for content that a guest could read. */
    return pipeline_read(&(struct pipeline){.policy = PIPELINE_RESUME, .config = config},
                         unit_directory(state), &unit->domain, &unit->request, failure);
}

static void
assert_resolves(void **state, const char *element, enum part_kind kind,
                const char *expected)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    config_read(&config, unit_directory(state), &failure);
    resolve(state, &unit, element, &config, &failure);
    assert_no_failure(failure);
    unit_assert_content(&parts_find(&unit.request.parts, kind)->data, expected);
}

static void
assert_refuses(void **state, const char *element, enum failure_code code)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    config_read(&config, unit_directory(state), &failure);
    if (resolve(state, &unit, element, &config, &failure) == 0)
        print_error("resolved: %s\n", element);
    assert_failure(&failure, code);
}

static void
make_file(void **state, const char *below, const char *name, const char *content)
{
    cleanup_free char *path = xasprintf("%s/%s", below, name);

    unit_make_file(unit_directory(state), path, 0600, content);
}

/* --- files ------------------------------------------------------------------------ */

static void
leaves_text_as_it_is(void **state)
{
    assert_resolves(state, "<ci:user-data>a\n</ci:user-data>", PART_USER_DATA, "a\n");
    assert_resolves(state, "<ci:user-data/>", PART_USER_DATA, "");
}

static void
reads_a_file_byte_for_byte(void **state)
{
    make_file(state, files, "site/base.yaml", "\n  base\n  ");
    assert_resolves(state, "<ci:vendor-data file='site/base.yaml'/>", PART_VENDOR_DATA,
                    "\n  base\n  ");
}

static void
looks_in_the_directories_of_the_configuration(void **state)
{
    make_file(state, files, "a", "first\n");
    make_file(state, "srv/more", "a", "second\n");
    make_file(state, "srv/more", "b", "third\n");
    unit_make_file(unit_directory(state), &VIRT_SEED_CONFDIR "/virt-seed.conf"[1], 0644,
                   "file-directory = /srv/none\nfile-directory = /srv/more\n");
    assert_resolves(state, "<ci:user-data file='a'/>", PART_USER_DATA, "first\n");
    assert_resolves(state, "<ci:user-data file='b'/>", PART_USER_DATA, "third\n");
    assert_refuses(state, "<ci:user-data file='c'/>", FAILURE_FILE);
}

static void
names_the_directory_with_the_file(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    make_file(state, files, "a", "first\n");
    unit_make_directory(unit_directory(state), "srv", 0755);
    unit_make_directory(unit_directory(state), "srv/more", 0755);
    unit_make_link(unit_directory(state), "srv/more/b", "/etc/passwd");
    unit_make_file(unit_directory(state), &VIRT_SEED_CONFDIR "/virt-seed.conf"[1], 0644,
                   "file-directory = /srv/more\n");
    config_read(&config, unit_directory(state), &failure);
    assert_no_failure(failure);
    resolve(state, &unit, "<ci:user-data file='b'/>", &config, &failure);
    assert_non_null(failure);
    assert_non_null(strstr(failure->message, "the name leads out of /srv/more"));
    assert_failure(&failure, FAILURE_FILE);
}

static void
refuses_a_file_that_is_not_there(void **state)
{
    assert_refuses(state, "<ci:user-data file='a'/>", FAILURE_FILE);
    make_file(state, files, "a", "a");
    assert_refuses(state, "<ci:user-data file='b'/>", FAILURE_FILE);
    assert_refuses(state, "<ci:user-data file=''/>", FAILURE_FILE);
    assert_refuses(state, "<ci:user-data file='a/b'/>", FAILURE_FILE);
}

static void
refuses_a_file_out_of_the_directories(void **state)
{
    const char *const names[] = {"../virt-seed.conf", "/etc/passwd", "link",
                                 "folder/passwd", "../../../../../../../etc/passwd"};
    cleanup_free char *link = xasprintf("%s/link", files);
    cleanup_free char *folder = xasprintf("%s/folder", files);

    make_file(state, files, "a", "a");
    make_file(state, files, "../virt-seed.conf", "");
    unit_make_link(unit_directory(state), link, "/etc/passwd");
    unit_make_link(unit_directory(state), folder, "/etc");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        cleanup_free char *element = xasprintf("<ci:user-data file='%s'/>", names[i]);

        assert_refuses(state, element, FAILURE_FILE);
    }
}

static void
refuses_what_is_no_regular_file(void **state)
{
    cleanup_free char *fifo = xasprintf("%s/fifo", files);

    make_file(state, files, "folder/a", "a");
    assert_int_equal(mkfifoat(unit_directory(state), fifo, 0600), 0);
    alarm(5);
    assert_refuses(state, "<ci:user-data file='folder'/>", FAILURE_FILE);
    assert_refuses(state, "<ci:user-data file='fifo'/>", FAILURE_FILE);
    alarm(0);
}

static void
refuses_more_than_the_limit(void **state)
{
    cleanup_free char *path = xasprintf("%s/large", files);
    cleanup_close int fd = -1;

    make_file(state, files, "large", "");
    fd = openat(unit_directory(state), path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, LIMIT_PART + 1), 0);
    assert_refuses(state, "<ci:user-data file='large'/>", FAILURE_LIMIT);
}

/* --- secrets ---------------------------------------------------------------------- */

static void
make_secret(void **state, const char *key, const char *content)
{
    cleanup_free char *directory = xasprintf("%s/web1", secrets);

    make_file(state, directory, key, content);
    assert_int_equal(fchmodat(unit_directory(state), directory, 0700, 0), 0);
    assert_int_equal(fchmodat(unit_directory(state), secrets, 0700, 0), 0);
}

static void
knows_both_spellings_of_each_key(void **state)
{
    const struct {
        const char *element;
        enum part_kind kind;
        const char *spellings[2];
    } cases[] = {
        {"<ci:user-data secret='web1'/>", PART_USER_DATA, {"userData", "userdata"}},
        {"<ci:vendor-data secret='web1'/>",
         PART_VENDOR_DATA,
         {"vendorData", "vendordata"}},
        {"<ci:network-config secret='web1'/>",
         PART_NETWORK_CONFIG,
         {"networkData", "networkdata"}},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (size_t j = 0; j < 2; j++) {
            make_secret(state, cases[i].spellings[j], cases[i].spellings[j]);
            assert_resolves(state, cases[i].element, cases[i].kind,
                            cases[i].spellings[j]);
        }
    }
}

static void
reads_the_key_that_is_named_and_no_other(void **state)
{
    make_secret(state, "userdata", "default");
    assert_refuses(state, "<ci:user-data secret='web1' key='k'/>",
                   FAILURE_SECRET_MISSING);
    make_secret(state, "k", "named");
    assert_resolves(state, "<ci:user-data secret='web1' key='k'/>", PART_USER_DATA,
                    "named");
}

static void
notes_the_key_that_was_found(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_config struct config config = {0};
    struct failure *failure = NULL;

    make_secret(state, "userData", "u");
    config_read(&config, unit_directory(state), &failure);
    resolve(state, &unit, "<ci:user-data secret='web1'/>", &config, &failure);
    assert_no_failure(failure);
    assert_string_equal(parts_find(&unit.request.parts, PART_USER_DATA)->key, "userData");
}

static void
says_which_element_and_line_it_is_about(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_config struct config config = {0};
    cleanup_failure struct failure *failure = NULL;

    config_read(&config, unit_directory(state), &failure);
    resolve(state, &unit, "\n<ci:vendor-data secret='db'/>", &config, &failure);
    assert_int_equal(strncmp(failure->message, "<vendor-data secret=\"db\">: ", 27), 0);
    assert_int_equal(failure->line, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(leaves_text_as_it_is),
        unit_test_in_directory(reads_a_file_byte_for_byte),
        unit_test_in_directory(looks_in_the_directories_of_the_configuration),
        unit_test_in_directory(names_the_directory_with_the_file),
        unit_test_in_directory(refuses_a_file_that_is_not_there),
        unit_test_in_directory(refuses_a_file_out_of_the_directories),
        unit_test_in_directory(refuses_what_is_no_regular_file),
        unit_test_in_directory(refuses_more_than_the_limit),
        unit_test_in_directory(knows_both_spellings_of_each_key),
        unit_test_in_directory(reads_the_key_that_is_named_and_no_other),
        unit_test_in_directory(notes_the_key_that_was_found),
        unit_test_in_directory(says_which_element_and_line_it_is_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
