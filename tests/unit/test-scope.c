/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scope: base/scope.h, and what is made in a session: host/own-directory.h. */
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/names.h"
#include "base/scope.h"
#include "host/own-directory.h"
#include "host/rundir.h"
#include "host/secret.h"
#include "unit.h"

/* The caller if that is an ordinary user: only root can make files of another. */
static uid_t
session_user(void)
{
    return geteuid() == 0 ? 64100 : geteuid();
}

static void
make_directory(int root, const char *path, mode_t mode, uid_t user)
{
    unit_make_directory(root, path, mode);
    assert_int_equal(fchownat(root, path, user, (gid_t)-1, 0), 0);
}

static void
make_passwd(int root, const char *home)
{
    cleanup_free char *line = xasprintf("root:x:0:0::/root:/bin/sh\n"
                                        "ann:x:%lu:%lu::%s:/bin/sh\n"
                                        "later:x:%lu:0::/later:/bin/sh\n",
                                        (unsigned long)session_user(), 0UL, home,
                                        (unsigned long)session_user());

    unit_make_file(root, "etc/passwd", 0644, line);
}

static const char *
runtime_path(void)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), VIRT_SEED_RUNSTATEDIR "/user/%lu",
             (unsigned long)session_user());
    return path;
}

static const char *
choose(int root)
{
    struct failure *failure = NULL;

    assert_int_equal(scope_use_session(root, session_user(), &failure), 0);
    assert_no_failure(failure);
    return scope()->rundir;
}

static void
assert_has_no_session(int root, uid_t user, enum failure_code code)
{
    struct failure *failure = NULL;

    assert_int_equal(scope_use_session(root, user, &failure), -1);
    assert_failure(&failure, code);
}

static void
is_the_systems_at_first(void **state)
{
    (void)state;
    assert_string_equal(scope()->rundir, VIRT_SEED_RUNDIR);
    assert_string_equal(scope()->uri, "qemu:///system");
    assert_null(scope()->home);
    assert_non_null(scope()->imds_tree);
}

static void
takes_the_home_of_passwd_whatever_the_environment_says(void **state)
{
    const int root = unit_directory(state);

    make_passwd(root, "//home/./ann/");
    make_directory(root, "elsewhere", 0700, session_user());
    setenv("HOME", "/elsewhere", 1);
    assert_string_equal(choose(root), "/home/ann/.cache/libvirt/virt-seed");
    assert_string_equal(scope()->statedir, "/home/ann/.local/state/virt-seed");
    assert_string_equal(scope()->reportdir, "/home/ann/.local/state/virt-seed");
    assert_string_equal(scope()->secrets, "/home/ann/.config/virt-seed/secrets");
    assert_string_equal(scope()->uri, "qemu:///session");
    assert_null(scope()->imds_tree);
}

static void
takes_home_of_a_user_without_a_line_only_if_it_is_the_users(void **state)
{
    const int root = unit_directory(state);

    unit_make_file(root, "etc/passwd", 0644, "root:x:0:0::/root:/bin/sh\n");
    make_directory(root, "ann", 0755, session_user());
    make_directory(root, "other", 0755, geteuid());
    unsetenv("HOME");
    assert_has_no_session(root, session_user(), FAILURE_SYSTEM);
    setenv("HOME", "ann", 1);
    assert_has_no_session(root, session_user(), FAILURE_SYSTEM);
    setenv("HOME", "/missing", 1);
    assert_has_no_session(root, session_user(), FAILURE_SYSTEM);
    if (geteuid() == 0) {
        setenv("HOME", "/other", 1);
        assert_has_no_session(root, session_user(), FAILURE_SYSTEM);
    }
    setenv("HOME", "/ann", 1);
    assert_string_equal(choose(root), "/ann/.cache/libvirt/virt-seed");
}

static void
refuses_a_home_that_is_no_plain_path(void **state)
{
    static const char *const homes[] = {"", "/", "home/ann", "/home/../ann", "/a\001b"};
    const int root = unit_directory(state);

    for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
        make_passwd(root, homes[i]);
        assert_has_no_session(root, session_user(), FAILURE_SYSTEM);
    }
    assert_false(scope_use_directories("/home/ann", "run"));
    assert_false(scope_use_directories("/home/ann\n", NULL));
}

static void
takes_a_runtime_directory_that_is_the_users_and_closed(void **state)
{
    const int root = unit_directory(state);
    const char *const runtime = runtime_path();
    cleanup_free char *expected = xasprintf("%s/libvirt/virt-seed", runtime);
    const char *cache = "/home/ann/.cache/libvirt/virt-seed";

    make_passwd(root, "/home/ann");
    assert_string_equal(choose(root), cache);
    make_directory(root, &runtime[1], 0700, session_user());
    assert_string_equal(choose(root), expected);
    assert_int_equal(fchmodat(root, &runtime[1], 0710, 0), 0);
    assert_string_equal(choose(root), cache);
    assert_int_equal(fchmodat(root, &runtime[1], 0700, 0), 0);
    if (geteuid() == 0) {
        assert_int_equal(fchownat(root, &runtime[1], 0, 0, 0), 0);
        assert_string_equal(choose(root), cache);
    }
    assert_int_equal(unlinkat(root, &runtime[1], AT_REMOVEDIR), 0);
    make_directory(root, "aside", 0700, session_user());
    unit_make_link(root, &runtime[1], "/aside");
    assert_string_equal(choose(root), cache);
    assert_int_equal(unlinkat(root, &runtime[1], 0), 0);
    assert_int_equal(mkfifoat(root, &runtime[1], 0600), 0);
    assert_string_equal(choose(root), cache);
}

static void
root_has_none(void **state)
{
    const int root = unit_directory(state);

    unit_make_file(root, "etc/passwd", 0644, "root:x:0:0::/root:/bin/sh\n");
    assert_has_no_session(root, 0, FAILURE_USAGE);
}

/* What is made belongs to whoever makes it: here, the test. */
static void
makes_directories_closed_to_others_below_a_home_behind_a_link(void **state)
{
    const int root = unit_directory(state);
    struct failure *failure = NULL;
    struct stat status;
    int fd;

    make_passwd(root, "/home/ann");
    make_directory(root, "var/home/ann", 0755, geteuid());
    unit_make_link(root, "home", "/var/home");
    choose(root);
    fd = rundir_open(root, &failure);
    assert_no_failure(failure);
    close(fd);
    assert_int_equal(fstatat(root, "var/home/ann/.cache/libvirt/virt-seed", &status, 0),
                     0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    fd = secret_make_directory(root, scope()->secrets, &failure);
    if (failure)
        failure_free(steal(failure));
    else
        close(fd);
    assert_int_equal(fstatat(root, "var/home/ann/.config/virt-seed", &status, 0), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
}

static void
follows_no_link_below_the_home(void **state)
{
    const int root = unit_directory(state);
    struct failure *failure = NULL;

    make_passwd(root, "/home/ann");
    make_directory(root, "home/ann/.cache", 0700, geteuid());
    make_directory(root, "victim", 0755, geteuid());
    unit_make_link(root, "home/ann/.cache/libvirt", "/victim");
    choose(root);
    assert_int_equal(rundir_open(root, &failure), -1);
    assert_failure(&failure, FAILURE_RUNDIR);
    assert_int_equal(unlinkat(root, "home/ann/.cache/libvirt", 0), 0);
    assert_int_equal(mkfifoat(root, "home/ann/.cache/libvirt", 0600), 0);
    assert_int_equal(rundir_open(root, &failure), -1);
    assert_failure(&failure, FAILURE_RUNDIR);
}

static void
assert_secret(int fd, const char *wrong)
{
    struct failure *failure = NULL;
    const int result = secret_check_closed(fd, "FILE", &failure);

    assert_int_equal(result, wrong ? -1 : 0);
    if (!wrong)
        return;
    assert_non_null(strstr(failure->message, wrong));
    assert_failure(&failure, FAILURE_SECRET_MODE);
}

static void
takes_only_secrets_that_are_the_users_and_closed_to_all(void **state)
{
    const int root = unit_directory(state);
    cleanup_close int fd = -1;

    make_passwd(root, "/home/ann");
    choose(root);
    unit_make_file(root, "secret", 0600, "x");
    fd = openat(root, "secret", O_RDONLY | O_CLOEXEC);
    assert_secret(fd, NULL);
    /* Also for the group "root", which may read the system's. */
    assert_int_equal(fchmod(fd, 0640), 0);
    assert_secret(fd, "others may read");
    assert_int_equal(fchmod(fd, 0600), 0);
    if (geteuid() == 0) {
        assert_int_equal(fchown(fd, 64101, 0), 0);
        assert_secret(fd, "expected your own user");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_systems_at_first),
        unit_test_in_directory(takes_the_home_of_passwd_whatever_the_environment_says),
        unit_test_in_directory(
            takes_home_of_a_user_without_a_line_only_if_it_is_the_users),
        unit_test_in_directory(refuses_a_home_that_is_no_plain_path),
        unit_test_in_directory(takes_a_runtime_directory_that_is_the_users_and_closed),
        unit_test_in_directory(root_has_none),
        unit_test_in_directory(
            makes_directories_closed_to_others_below_a_home_behind_a_link),
        unit_test_in_directory(follows_no_link_below_the_home),
        unit_test_in_directory(takes_only_secrets_that_are_the_users_and_closed_to_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
