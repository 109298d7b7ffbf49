/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metadata server's tree: what the hook writes, the server reads. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "host/imds-tree.h"
#include "imds-host.h"
#include "store/imds-read.h"
#include "unit.h"

#define UUID UNIT_UUID
#define OTHER_UUID UNIT_OTHER_UUID
#define TOKEN IMDS_HOST_TOKEN
#define MAC "52:54:00:00:00:01"
#define OTHER_MAC "52:54:00:00:00:02"
#define THIRD_MAC "52:54:00:00:00:03"

static int
publish(const struct imds_host *host, const char *uuid, const struct imds_mac *macs,
        size_t mac_count, const char *path, const char *content)
{
    return imds_host_publish(host, uuid, TOKEN, macs, mac_count, path, content);
}

static void
assert_content(const struct imds_host *host, const char *uuid, const char *path,
               const char *content)
{
    struct stat status;
    cleanup_close int domain = imds_tree_open_domain(&host->reading, uuid);
    cleanup_close int fd = -1;
    cleanup_buffer struct buffer buffer = {0};

    assert_true(domain >= 0);
    fd = imds_tree_open_file(&host->reading, domain, path, &status);
    assert_true(fd >= 0);
    assert_int_equal(fs_read_all(fd, 4096, &buffer), 0);
    assert_string_equal(buffer.data, content);
}

static int
remove_domain(const struct imds_host *host, const char *uuid, struct failure **failure)
{
    cleanup_close int rundir = openat(host->tree, "..", O_PATH | O_CLOEXEC);

    return imds_tree_remove(rundir, uuid, failure);
}

static void
what_is_published_is_read(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    const struct imds_host *host = &opened;
    struct imds_access access;
    cleanup_close int domain = -1;

    assert_int_equal(publish(host, UUID, NULL, 0, "user-data", "one"), 0);
    assert_content(host, UUID, "user-data", "one");
    domain = imds_tree_open_domain(&host->reading, UUID);
    assert_int_equal(imds_tree_read_access(&host->reading, domain, &access), 0);
    assert_string_equal(access.text, TOKEN);
    assert_string_equal(access.macs, "");
}

static void
what_was_opened_before_it_is_replaced_stays(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    const struct imds_host *host = &opened;
    struct stat status;
    cleanup_close int domain = -1, fd = -1;
    char content[8] = "";

    publish(host, UUID, NULL, 0, "user-data", "one");
    domain = imds_tree_open_domain(&host->reading, UUID);
    fd = imds_tree_open_file(&host->reading, domain, "user-data", &status);
    assert_int_equal(publish(host, UUID, NULL, 0, "user-data", "other"), 0);
    assert_int_equal(read(fd, content, sizeof(content)), 3);
    assert_content(host, UUID, "user-data", "other");
    /* Of the first generation nothing can be opened any more: never half of each. */
    close_pointer(&fd);
    fd = imds_tree_open_file(&host->reading, domain, "user-data", &status);
    assert_int_equal(fd, -ENOENT);
    assert_false(fs_is_named(domain, host->reading.fd, UUID));
    close_pointer(&domain);
    domain = imds_tree_open_domain(&host->reading, UUID);
    assert_true(fs_is_named(domain, host->reading.fd, UUID));
}

static void
macs_say_how_they_are_linked(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    const struct imds_host *host = &opened;
    const struct imds_mac macs[] = {{MAC, IMDS_LINK_NEIGHBOUR},
                                    {OTHER_MAC, IMDS_LINK_USER}};
    const struct imds_tree *tree = &host->reading;
    struct imds_access access;
    cleanup_close int domain = -1;

    publish(host, UUID, macs, 2, "user-data", "");
    domain = imds_tree_open_domain(tree, UUID);
    assert_int_equal(imds_tree_read_access(tree, domain, &access), 0);
    assert_int_equal(imds_access_links(&access, MAC), IMDS_LINK_SET(IMDS_LINK_NEIGHBOUR));
    assert_int_equal(imds_access_links(&access, OTHER_MAC),
                     IMDS_LINK_SET(IMDS_LINK_USER));
    assert_int_equal(imds_access_links(&access, "52:54:00:ff:ff:ff"), 0);
    assert_int_equal(imds_access_links(&access, NULL),
                     IMDS_LINK_SET(IMDS_LINK_NEIGHBOUR) | IMDS_LINK_SET(IMDS_LINK_USER));
}

static void
what_was_published_stays_where_the_new_cannot_be(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    const struct imds_host *host = &opened;

    publish(host, UUID, NULL, 0, "user-data", "one");
    /* The file that says who may read it has that name. */
    assert_int_equal(publish(host, UUID, NULL, 0, IMDS_ACCESS, "other"), -1);
    assert_content(host, UUID, "user-data", "one");
}

static void
nothing_is_left_of_a_domain_that_is_removed(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    const struct imds_host *host = &opened;
    const struct imds_mac macs[] = {{MAC, IMDS_LINK_NEIGHBOUR}};
    cleanup_failure struct failure *failure = NULL;

    publish(host, UUID, macs, 1, "user-data", "");
    publish(host, OTHER_UUID, NULL, 0, "user-data", "other");
    /* As a killed process leaves it. */
    unit_make_file(host->tree, UUID ".new.00000000/access", 0640,
                   TOKEN "\n" OTHER_MAC " neighbour\n");
    assert_int_equal(remove_domain(host, UUID, &failure), 0);
    assert_int_equal(remove_domain(host, UUID, &failure), 0);
    assert_int_equal(imds_tree_open_domain(&host->reading, UUID), -ENOENT);
    assert_int_equal(faccessat(host->tree, UUID ".new.00000000", F_OK, 0), -1);
    assert_content(host, OTHER_UUID, "user-data", "other");
}

static void
the_tree_has_the_group_and_the_modes_that_the_server_needs(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    const struct imds_host *host = &opened;
    struct stat top, status;

    if (geteuid() == 0)
        assert_int_equal(fchown(host->tree, 0, 4711), 0);
    assert_int_equal(fchmod(host->tree, 0750), 0);
    assert_int_equal(fstat(host->tree, &top), 0);
    publish(host, UUID, NULL, 0, "user-data", "");
    fstatat(host->tree, UUID, &status, 0);
    assert_int_equal(status.st_mode & 07777, 0750);
    assert_int_equal(status.st_gid, top.st_gid);
    fstatat(host->tree, UUID "/access", &status, 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(status.st_gid, top.st_gid);
}

/* Adds lines of MACs up to that size exactly. */
static void
fill_with_macs(struct buffer *text, size_t size)
{
    static const char neighbour[] = OTHER_MAC " neighbour\n",
                      user[] = OTHER_MAC " user\n";

    while ((size - text->size) % strlen(user) != 0)
        buffer_append_string(text, neighbour);
    while (text->size < size)
        buffer_append_string(text, user);
    assert_int_equal(text->size, size);
}

static void
an_access_file_that_is_too_long_is_not_read_in_part(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    const struct imds_host *host = &opened;
    cleanup_buffer struct buffer text = {0};
    struct imds_access access;
    cleanup_close int domain = -1;

    publish(host, UUID, NULL, 0, "user-data", "");
    domain = imds_tree_open_domain(&host->reading, UUID);
    buffer_append_string(&text, TOKEN "\n");
    fill_with_macs(&text, LIMIT_IMDS_ACCESS);
    imds_host_write_access(host, UUID, &text);
    assert_int_equal(imds_tree_read_access(&host->reading, domain, &access), 0);
    /* What fits ends with a line's end: only the size shows that there is more. */
    buffer_append_string(&text, MAC " neighbour\n");
    imds_host_write_access(host, UUID, &text);
    assert_int_equal(imds_tree_read_access(&host->reading, domain, &access), -EINVAL);
}

/* The owner's alone, and closed to all others for writing. */
static void
a_tree_that_others_may_write_is_not_read(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    cleanup_imds_tree struct imds_tree tree = IMDS_TREE_NONE;
    static const mode_t modes[] = {0770, 0720, 0752, 0702, 0777};

    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        assert_int_equal(fchmod(opened.tree, modes[i]), 0);
        assert_int_equal(imds_tree_read(&tree, unit_directory(state)), -EPERM);
    }
    assert_int_equal(fchmod(opened.tree, 0755), 0);
    assert_int_equal(imds_tree_read(&tree, unit_directory(state)), 0);
    if (geteuid() != 0)
        return;
    imds_tree_close(&tree);
    assert_int_equal(fchown(opened.tree, 65534, (gid_t)-1), 0);
    assert_int_equal(imds_tree_read(&tree, unit_directory(state)), -EPERM);
}

static void
a_document_that_cannot_be_written_leaves_what_was_there(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    const struct imds_host *host = &opened;

    publish(host, UUID, NULL, 0, "user-data", "one");
    /* That name is taken. */
    assert_int_equal(publish(host, UUID, NULL, 0, IMDS_ACCESS, "two"), -1);
    assert_content(host, UUID, "user-data", "one");
}

/* What is not looked at may have a seed in it. */
static void
fails_to_remove_what_it_cannot_list(void **state)
{
    cleanup_imds_host struct imds_host opened = imds_host_open(state);
    cleanup_close int rundir = openat(opened.tree, "..", O_PATH | O_CLOEXEC);
    cleanup_close int next = dup(rundir);
    struct failure *failure = NULL;
    struct rlimit all, none;
    int result;

    publish(&opened, UUID, NULL, 0, "user-data", "");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    none = (struct rlimit){.rlim_cur = (rlim_t)next + 1, .rlim_max = all.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    result = imds_tree_remove(rundir, UUID, &failure);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    assert_int_equal(result, -1);
    assert_failure(&failure, FAILURE_RUNDIR);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(what_is_published_is_read),
        unit_test_in_directory(what_was_opened_before_it_is_replaced_stays),
        unit_test_in_directory(macs_say_how_they_are_linked),
        unit_test_in_directory(what_was_published_stays_where_the_new_cannot_be),
        unit_test_in_directory(nothing_is_left_of_a_domain_that_is_removed),
        unit_test_in_directory(
            the_tree_has_the_group_and_the_modes_that_the_server_needs),
        unit_test_in_directory(a_document_that_cannot_be_written_leaves_what_was_there),
        unit_test_in_directory(an_access_file_that_is_too_long_is_not_read_in_part),
        unit_test_in_directory(a_tree_that_others_may_write_is_not_read),
        unit_test_in_directory(fails_to_remove_what_it_cannot_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
