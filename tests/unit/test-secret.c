/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's secrets: host/secret.h. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "host/secret.h"
#include "store/secret-write.h"
#include "unit.h"

/* The directory of the secrets, relative to the test's. */
static const char *const secrets = &(VIRT_SEED_CONFDIR "/secrets")[1];

#define CONTENT "hunter2"

static const struct secret_user web1 = {.name = (char *)"web1", .uuid = UNIT_UUID};

/* --- helpers ---------------------------------------------------------------------- */

/* Return: the path of the secret's directory or, with a key, of its file, owned by the
 * caller (free). */
static char *
path_of(const char *name, const char *key)
{
    return xasprintf("%s/%s%s%s", secrets, name, key ? "/" : "", key ? key : "");
}

static void
set_mode(void **state, const char *path, mode_t mode)
{
    assert_int_equal(fchmodat(unit_directory(state), path, mode, 0), 0);
}

/* Makes the secret "web1" with that key, all of it closed to others. */
static void
make_secret(void **state, const char *key)
{
    cleanup_free char *directory = path_of("web1", NULL);
    cleanup_free char *file = path_of("web1", key);

    unit_make_file(unit_directory(state), file, 0600, CONTENT);
    set_mode(state, directory, 0700);
    set_mode(state, secrets, 0700);
}

static int
read_secret(void **state, const char *name, const char *key, struct buffer *content,
            struct failure **failure)
{
    const char *const keys[] = {key, NULL};
    const char *found;

    return secret_read(unit_directory(state), &web1, name, keys, content, &found,
                       failure);
}

static void
assert_reads(void **state, const char *name, const char *key)
{
    cleanup_buffer struct buffer content = {0};
    struct failure *failure = NULL;

    read_secret(state, name, key, &content, &failure);
    assert_no_failure(failure);
    unit_assert_content(&content, CONTENT);
}

static void
assert_refuses(void **state, const char *name, const char *key, enum failure_code code)
{
    cleanup_buffer struct buffer content = {0};
    struct failure *failure = NULL;

    if (read_secret(state, name, key, &content, &failure) == 0)
        print_error("read: secret '%s', key '%s'\n", name, key);
    assert_non_null(failure);
    assert_null(strstr(failure->message, CONTENT));
    assert_failure(&failure, code);
    assert_int_equal(content.size, 0);
}

/* --- reading ---------------------------------------------------------------------- */

static void
reads_a_key(void **state)
{
    make_secret(state, "userdata");
    assert_reads(state, "web1", "userdata");
}

static void
reads_the_first_key_that_is_there(void **state)
{
    const char *const keys[] = {"userdata", "userData", NULL};
    cleanup_buffer struct buffer content = {0};
    struct failure *failure = NULL;
    const char *found = NULL;

    make_secret(state, "userData");
    secret_read(unit_directory(state), &web1, "web1", keys, &content, &found, &failure);
    assert_no_failure(failure);
    assert_string_equal(found, "userData");
    buffer_clear(&content);

    make_secret(state, "userdata");
    secret_read(unit_directory(state), &web1, "web1", keys, &content, &found, &failure);
    assert_no_failure(failure);
    assert_string_equal(found, "userdata");
}

/* What a mounted Kubernetes Secret looks like: userdata -> ..data/userdata. */
static void
reads_through_links_within_the_secret(void **state)
{
    cleanup_free char *data = path_of("web1", "..data");
    cleanup_free char *link = path_of("web1", "userdata");
    cleanup_free char *folder = path_of("web1", "..2026_03_01_12_00_00.123");

    make_secret(state, "..2026_03_01_12_00_00.123/userdata");
    set_mode(state, folder, 0700);
    unit_make_link(unit_directory(state), data, "..2026_03_01_12_00_00.123");
    unit_make_link(unit_directory(state), link, "..data/userdata");
    assert_reads(state, "web1", "userdata");
}

static void
says_which_secret_or_key_is_missing(void **state)
{
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MISSING);
    make_secret(state, "networkdata");
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MISSING);
    assert_refuses(state, "web2", "userdata", FAILURE_SECRET_MISSING);
}

/* --- names ------------------------------------------------------------------------ */

static void
refuses_names_that_are_paths(void **state)
{
    const char *const names[] = {"",          ".",     "..",      "../web1", "web1/..",
                                 "a/b",       "/web1", "..data",  "web 1",   "web1\n",
                                 "w\xc3\xa9", "web1;", "$(web1)", "*",       "web\\1"};
    char name[LIMIT_SECRET_NAME + 2] = "";

    make_secret(state, "userdata");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        assert_refuses(state, names[i], "userdata", FAILURE_SECRET_NAME);
        assert_refuses(state, "web1", names[i], FAILURE_SECRET_NAME);
    }
    memset(name, 'a', LIMIT_SECRET_NAME + 1);
    assert_refuses(state, name, "userdata", FAILURE_SECRET_NAME);
    name[LIMIT_SECRET_NAME] = '\0';
    assert_refuses(state, name, "userdata", FAILURE_SECRET_MISSING);
}

static void
refuses_the_list_of_domains_as_a_key(void **state)
{
    make_secret(state, "allow");
    assert_refuses(state, "web1", "allow", FAILURE_SECRET_NAME);
}

/* --- modes ------------------------------------------------------------------------ */

static void
refuses_a_secret_others_may_read(void **state)
{
    const mode_t modes[] = {0644, 0604, 0602, 0601, 0666, 0777};
    cleanup_free char *file = path_of("web1", "userdata");

    make_secret(state, "userdata");
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        set_mode(state, file, modes[i]);
        assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MODE);
    }
    set_mode(state, file, 0400);
    assert_reads(state, "web1", "userdata");
}

/* Only root is in root's group; another group can have other members. */
static void
refuses_a_secret_a_group_may_read(void **state)
{
    cleanup_free char *file = path_of("web1", "userdata");

    make_secret(state, "userdata");
    if (geteuid() == 0) {
        set_mode(state, file, 0640);
        assert_reads(state, "web1", "userdata");
        assert_int_equal(fchownat(unit_directory(state), file, 0, 1, 0), 0);
    }
    set_mode(state, file, 0640);
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MODE);
    set_mode(state, file, 0620);
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MODE);
}

static void
refuses_directories_that_are_open_to_others(void **state)
{
    cleanup_free char *directory = path_of("web1", NULL);

    make_secret(state, "userdata");
    set_mode(state, directory, 0711);
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MODE);
    set_mode(state, directory, 0700);
    set_mode(state, secrets, 0755);
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MODE);
    set_mode(state, secrets, 0700);
    assert_reads(state, "web1", "userdata");
}

/* For root alone: an ordinary user cannot give files away. */
static void
refuses_a_secret_that_belongs_to_another(void **state)
{
    cleanup_free char *file = NULL;
    cleanup_free char *directory = NULL;

    /* It leaves the function without releasing anything. */
    if (geteuid() != 0)
        skip();
    file = path_of("web1", "userdata");
    directory = path_of("web1", NULL);
    make_secret(state, "userdata");
    assert_int_equal(fchownat(unit_directory(state), file, 1000, 0, 0), 0);
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MODE);
    assert_int_equal(fchownat(unit_directory(state), file, 0, 0, 0), 0);
    assert_int_equal(fchownat(unit_directory(state), directory, 1000, 0, 0), 0);
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MODE);
}

/* --- what is in a secret's place ---------------------------------------------- */

static void
refuses_a_link_out_of_the_secret(void **state)
{
    cleanup_free char *file = path_of("web1", "userdata");
    cleanup_free char *outside = path_of("web2", "userdata");
    const char *const targets[] = {"/etc/shadow", "/etc/passwd", "../web2/userdata",
                                   "../../../../../../etc/passwd"};

    make_secret(state, "networkdata");
    unit_make_file(unit_directory(state), outside, 0600, CONTENT);
    for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
        unlinkat(unit_directory(state), file, 0);
        unit_make_link(unit_directory(state), file, targets[i]);
        assert_refuses(state, "web1", "userdata", FAILURE_SECRET);
    }
}

static void
refuses_a_secret_that_is_a_link_out_of_the_secrets(void **state)
{
    cleanup_free char *link = path_of("web2", NULL);

    make_secret(state, "userdata");
    unit_make_link(unit_directory(state), link, "/etc");
    assert_refuses(state, "web2", "passwd", FAILURE_SECRET);
}

static void
refuses_what_is_no_regular_file(void **state)
{
    cleanup_free char *fifo = path_of("web1", "fifo");
    cleanup_free char *folder = path_of("web1", "folder");
    cleanup_free char *file = path_of("web2", NULL);
    cleanup_free char *loop = path_of("web1", "loop");

    make_secret(state, "userdata");
    assert_int_equal(mkfifoat(unit_directory(state), fifo, 0600), 0);
    unit_make_directory(unit_directory(state), folder, 0700);
    unit_make_file(unit_directory(state), file, 0600, CONTENT);
    unit_make_link(unit_directory(state), loop, "loop");
    alarm(5);
    assert_refuses(state, "web1", "fifo", FAILURE_SECRET);
    assert_refuses(state, "web1", "folder", FAILURE_SECRET);
    assert_refuses(state, "web2", "userdata", FAILURE_SECRET);
    assert_refuses(state, "web1", "loop", FAILURE_SECRET);
    alarm(0);
}

static void
refuses_more_than_the_limit(void **state)
{
    cleanup_free char *file = path_of("web1", "userdata");
    cleanup_close int fd = -1;

    make_secret(state, "userdata");
    fd = openat(unit_directory(state), file, O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, LIMIT_PART + 1), 0);
    {
        cleanup_buffer struct buffer content = {0};
        struct failure *failure = NULL;

        assert_int_equal(read_secret(state, "web1", "userdata", &content, &failure), -1);
        assert_failure(&failure, FAILURE_LIMIT);
    }
    assert_int_equal(ftruncate(fd, LIMIT_PART), 0);
    {
        cleanup_buffer struct buffer content = {0};
        struct failure *failure = NULL;

        read_secret(state, "web1", "userdata", &content, &failure);
        assert_no_failure(failure);
        assert_int_equal(content.size, LIMIT_PART);
    }
}

/* --- who may ---------------------------------------------------------------------- */

static void
reads_for_the_domains_that_are_allowed(void **state)
{
    const char *const lists[] = {
        UNIT_UUID,     "4DEA22B3-1D52-D8F3-2516-782E98AB3FA0\n",
        "db*\nweb1\n", "web?   # the web servers\n",
        "*",           "# nobody but\n\n\t" UNIT_UUID "\r\n",
    };
    cleanup_free char *allow = path_of("web1", "allow");

    make_secret(state, "userdata");
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        unit_make_file(unit_directory(state), allow, 0600, lists[i]);
        assert_reads(state, "web1", "userdata");
    }
}

static void
refuses_the_domains_that_are_not_allowed(void **state)
{
    const char *const lists[] = {"",
                                 "\n",
                                 "web2\n",
                                 "web\n",
                                 "web10\n",
                                 "# web1\n",
                                 UNIT_OTHER_UUID "\n",
                                 "Web1\n",
                                 "web1 production\n",
                                 "web[2-9]\n"};
    cleanup_free char *allow = path_of("web1", "allow");

    make_secret(state, "userdata");
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        unit_make_file(unit_directory(state), allow, 0600, lists[i]);
        assert_refuses(state, "web1", "userdata", FAILURE_SECRET_DENIED);
    }
}

/* A list that cannot be trusted or read allows nobody. */
static void
refuses_everybody_where_the_list_is_bad(void **state)
{
    cleanup_free char *allow = path_of("web1", "allow");

    make_secret(state, "userdata");
    unit_make_file(unit_directory(state), allow, 0666, "web1\n");
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MODE);
    assert_int_equal(unlinkat(unit_directory(state), allow, 0), 0);
    unit_make_directory(unit_directory(state), allow, 0700);
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET);
}

/* Nor does one that somebody took away from under its link. */
static void
refuses_everybody_where_the_list_leads_nowhere(void **state)
{
    cleanup_free char *allow = path_of("web1", "allow");

    make_secret(state, "userdata");
    unit_make_link(unit_directory(state), allow, "..data/allow");
    assert_refuses(state, "web1", "userdata", FAILURE_SECRET_MISSING);
}

/* The secret's list denies it to the user. */
static void
assert_denies(void **state, const struct secret_user *user, const char *list)
{
    const char *const keys[] = {"userdata", NULL};
    const char *found;
    cleanup_free char *allow = path_of("web1", "allow");
    cleanup_buffer struct buffer content = {0};
    struct failure *failure = NULL;

    make_secret(state, "userdata");
    unit_make_file(unit_directory(state), allow, 0600, list);
    assert_int_equal(secret_read(unit_directory(state), user, "web1", keys, &content,
                                 &found, &failure),
                     -1);
    assert_failure(&failure, FAILURE_SECRET_DENIED);
}

static void
an_empty_line_allows_no_domain_without_a_uuid(void **state)
{
    const struct secret_user without_uuid = {.name = "web1", .uuid = ""};

    assert_denies(state, &without_uuid, "# nobody\n\n");
}

static void
takes_a_uuid_for_no_pattern_of_names(void **state)
{
    const struct secret_user impostor = {.name = UNIT_UUID, .uuid = UNIT_OTHER_UUID};

    assert_denies(state, &impostor, UNIT_UUID "\n");
    assert_reads(state, "web1", "userdata");
}

/* --- writing ---------------------------------------------------------------------- */

static int
write_key(void **state, const char *name, const char *key, const char *content,
          struct failure **failure)
{
    cleanup_buffer struct buffer buffer = {0};
    struct secret_key written = {.name = (char *)key};

    buffer_append_string(&buffer, content);
    written.content = buffer;
    return secret_write(unit_directory(state), name, &written, 1, failure);
}

static void
assert_holds(void **state, const char *key, const char *expected)
{
    const char *const keys[] = {key, NULL};
    const char *found;
    cleanup_buffer struct buffer content = {0};
    struct failure *failure = NULL;

    secret_read(unit_directory(state), &web1, "web1", keys, &content, &found, &failure);
    assert_no_failure(failure);
    unit_assert_content(&content, expected);
}

static void
forget(void *data, const char *key, struct buffer *content)
{
    (void)data;
    (void)key;
    buffer_clear(content);
}

static void
says_that_all_keys_together_are_too_large(void **state)
{
    cleanup_buffer struct buffer half = {0};
    struct secret_key keys[] = {{.name = (char *)"a"}, {.name = (char *)"b"}};
    struct failure *failure = NULL;

    memset(buffer_reserve(&half, LIMIT_PART / 2), 'x', LIMIT_PART / 2);
    half.size = LIMIT_PART / 2;
    keys[0].content = keys[1].content = half;
    secret_write(unit_directory(state), "web1", keys, 2, &failure);
    secret_read_all(unit_directory(state), &web1, "web1", forget, NULL, &failure);
    assert_no_failure(failure);
    unit_make_file(unit_directory(state),
                   &(VIRT_SEED_CONFDIR "/secrets"
                                       "/web1/c")[1],
                   0600, "x");
    assert_int_equal(
        secret_read_all(unit_directory(state), &web1, "web1", forget, NULL, &failure),
        -1);
    assert_non_null(strstr(failure->message, "/web1 have more than 4 MiB together"));
    assert_failure(&failure, FAILURE_LIMIT);
}

static void
what_is_written_can_be_read(void **state)
{
    cleanup_free char *longest = xcalloc(1, LIMIT_SECRET_NAME + 1);
    struct secret_key keys[] = {
        {.name = (char *)"userdata"}, {.name = (char *)"empty"}, {0}};
    struct failure *failure = NULL;

    memset(longest, 'k', LIMIT_SECRET_NAME);
    buffer_append_string(&keys[0].content, "hunter2");
    keys[2].name = longest;
    buffer_append_string(&keys[2].content, "long");
    secret_write(unit_directory(state), "web1", keys, ARRAY_SIZE(keys), &failure);
    assert_no_failure(failure);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        buffer_clear(&keys[i].content);
    assert_holds(state, "userdata", "hunter2");
    assert_holds(state, "empty", "");
    assert_holds(state, longest, "long");
}

static void
nothing_is_left_beside(void **state)
{
    cleanup_free char *path = xasprintf("%s/web1", secrets);
    struct failure *failure = NULL;
    cleanup_close int fd = -1;

    write_key(state, "web1", "userdata", "hunter2", &failure);
    assert_no_failure(failure);
    fd = openat(unit_directory(state), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(unit_count_entries(fd), 1);
}

static void
what_is_the_same_stays_and_what_differs_is_refused(void **state)
{
    cleanup_free char *path = xasprintf("%s/web1/userdata", secrets);
    struct failure *failure = NULL;
    struct stat before, after;

    write_key(state, "web1", "userdata", "hunter2", &failure);
    assert_int_equal(fstatat(unit_directory(state), path, &before, 0), 0);
    write_key(state, "web1", "userdata", "hunter2", &failure);
    assert_no_failure(failure);
    assert_int_equal(fstatat(unit_directory(state), path, &after, 0), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(write_key(state, "web1", "userdata", "hunter3", &failure), -1);
    assert_null(strstr(failure->message, "hunter"));
    assert_failure(&failure, FAILURE_SECRET);
    assert_int_equal(write_key(state, "web1", "userdata", "", &failure), -1);
    assert_failure(&failure, FAILURE_SECRET);
    assert_holds(state, "userdata", "hunter2");
}

static void
refuses_names_that_lead_elsewhere(void **state)
{
    const char *const names[] = {"", ".", "..", "../x", "a/b", "..data", "a b"};
    struct failure *failure = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        assert_int_equal(write_key(state, names[i], "userdata", "x", &failure), -1);
        assert_failure(&failure, FAILURE_SECRET_NAME);
        assert_int_equal(write_key(state, "web1", names[i], "x", &failure), -1);
        assert_failure(&failure, FAILURE_SECRET_NAME);
    }
    assert_int_equal(write_key(state, "web1", "allow", "x", &failure), -1);
    assert_failure(&failure, FAILURE_SECRET_NAME);
    assert_int_equal(unit_count_entries(unit_directory(state)), 0);
}

static void
writes_nothing_below_what_is_open_to_others(void **state)
{
    struct failure *failure = NULL;

    unit_make_directory(unit_directory(state), secrets, 0755);
    assert_int_equal(write_key(state, "web1", "userdata", "x", &failure), -1);
    assert_failure(&failure, FAILURE_SECRET_MODE);
}

static void
compares_with_no_file_that_others_may_write(void **state)
{
    cleanup_free char *path = xasprintf("%s/web1/userdata", secrets);
    struct failure *failure = NULL;

    write_key(state, "web1", "userdata", "x", &failure);
    assert_no_failure(failure);
    assert_int_equal(fchmodat(unit_directory(state), path, 0644, 0), 0);
    assert_int_equal(write_key(state, "web1", "userdata", "x", &failure), -1);
    assert_failure(&failure, FAILURE_SECRET_MODE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(reads_a_key),
        unit_test_in_directory(reads_the_first_key_that_is_there),
        unit_test_in_directory(reads_through_links_within_the_secret),
        unit_test_in_directory(says_which_secret_or_key_is_missing),
        unit_test_in_directory(refuses_names_that_are_paths),
        unit_test_in_directory(refuses_the_list_of_domains_as_a_key),
        unit_test_in_directory(refuses_a_secret_others_may_read),
        unit_test_in_directory(refuses_a_secret_a_group_may_read),
        unit_test_in_directory(refuses_directories_that_are_open_to_others),
        unit_test_in_directory(refuses_a_secret_that_belongs_to_another),
        unit_test_in_directory(refuses_a_link_out_of_the_secret),
        unit_test_in_directory(refuses_a_secret_that_is_a_link_out_of_the_secrets),
        unit_test_in_directory(refuses_what_is_no_regular_file),
        unit_test_in_directory(refuses_more_than_the_limit),
        unit_test_in_directory(reads_for_the_domains_that_are_allowed),
        unit_test_in_directory(refuses_the_domains_that_are_not_allowed),
        unit_test_in_directory(refuses_everybody_where_the_list_is_bad),
        unit_test_in_directory(refuses_everybody_where_the_list_leads_nowhere),
        unit_test_in_directory(an_empty_line_allows_no_domain_without_a_uuid),
        unit_test_in_directory(takes_a_uuid_for_no_pattern_of_names),
        unit_test_in_directory(says_that_all_keys_together_are_too_large),
        unit_test_in_directory(what_is_written_can_be_read),
        unit_test_in_directory(nothing_is_left_beside),
        unit_test_in_directory(what_is_the_same_stays_and_what_differs_is_refused),
        unit_test_in_directory(refuses_names_that_lead_elsewhere),
        unit_test_in_directory(writes_nothing_below_what_is_open_to_others),
        unit_test_in_directory(compares_with_no_file_that_others_may_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
