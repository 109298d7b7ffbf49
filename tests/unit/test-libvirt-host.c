/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may know of the domains, and who runs them: host/libvirt-host.h. */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/libvirt-host.h"
#include "unit.h"

/* Paths relative to the test's directory. */
static const char *const path = &VIRT_SEED_SOCKETDIR[1];
static const char *const qemu_home = &VIRT_SEED_QEMU_HOME[1];

/* Any group may be given away by root; others have their own, which is not root's. */
static gid_t
group_of_test(void)
{
    return geteuid() == 0 ? 64055 : getegid();
}

static void
make_socket(int root, const char *name, mode_t mode)
{
    cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    cleanup_free char *file = xasprintf("%s/%s", path, name);
    cleanup_free char *place = xasprintf("/proc/self/fd/%d/%s", root, file);

    unit_make_directory(root, path, 0755);
    assert_true(strlen(place) < sizeof(address.sun_path));
    memcpy(address.sun_path, place, strlen(place));
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(fchmodat(root, file, mode, 0), 0);
    assert_int_equal(fchownat(root, file, (uid_t)-1, group_of_test(), 0), 0);
}

static void
is_the_group_of_the_socket(void **state)
{
    make_socket(unit_directory(state), "libvirt-sock", 0770);
    assert_int_equal(libvirt_group(unit_directory(state)), group_of_test());
}

static void
is_the_group_of_the_socket_of_qemu_s_own_daemon(void **state)
{
    make_socket(unit_directory(state), "virtqemud-sock", 0660);
    assert_int_equal(libvirt_group(unit_directory(state)), group_of_test());
}

static void
is_the_group_libvirt_if_everybody_may_write_to_the_socket(void **state)
{
    int root = unit_directory(state);
    cleanup_free char *groups = xasprintf(
        "root:x:0:\nnot-libvirt:x:1:\nlibvirt:x:%u:me\n", (unsigned int)group_of_test());
    cleanup_free char *file = xasprintf("%s/libvirt-sock", path);

    unit_make_directory(root, "etc", 0755);
    unit_make_file(root, "etc/group", 0644, groups);
    make_socket(root, "libvirt-sock", 0666);
    assert_int_equal(fchownat(root, file, (uid_t)-1, getegid(), 0), 0);
    assert_int_equal(libvirt_group(root), group_of_test());
}

static void
is_root_s_if_everybody_may_write_and_there_is_no_group_libvirt(void **state)
{
    int root = unit_directory(state);

    make_socket(root, "libvirt-sock", 0777);
    assert_int_equal(libvirt_group(root), (geteuid() == 0 ? 0 : getegid()));
    unit_make_directory(root, "etc", 0755);
    unit_make_file(root, "etc/group", 0644, "root:x:0:\n");
    assert_int_equal(libvirt_group(root), (geteuid() == 0 ? 0 : getegid()));
}

static void
is_root_s_where_the_group_may_not_write_to_the_socket(void **state)
{
    make_socket(unit_directory(state), "libvirt-sock", 0700);
    assert_int_equal(libvirt_group(unit_directory(state)),
                     (geteuid() == 0 ? 0 : getegid()));
}

static void
is_root_s_where_there_is_no_socket(void **state)
{
    cleanup_free char *file = xasprintf("%s/libvirt-sock", path);

    assert_int_equal(libvirt_group(unit_directory(state)),
                     (geteuid() == 0 ? 0 : getegid()));
    unit_make_file(unit_directory(state), file, 0770, "");
    assert_int_equal(fchownat(unit_directory(state), file, (uid_t)-1, group_of_test(), 0),
                     0);
    assert_int_equal(libvirt_group(unit_directory(state)),
                     (geteuid() == 0 ? 0 : getegid()));
}

static void
knows_the_user_of_qemu_by_its_directory(void **state)
{
    int root = unit_directory(state);
    struct user user = qemu_user_find(root);

    assert_false(user.is_known);
    assert_int_equal(user.uid, geteuid());
    assert_int_equal(user.gid, getegid());
    unit_make_directory(root, qemu_home, 0755);
    if (geteuid() == 0)
        assert_int_equal(fchownat(root, qemu_home, 64055, 64056, 0), 0);
    user = qemu_user_find(root);
    assert_true(user.is_known);
    assert_int_equal(user.uid, geteuid() == 0 ? 64055 : geteuid());
    assert_int_equal(user.gid, geteuid() == 0 ? 64056 : getegid());
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(is_the_group_of_the_socket),
        unit_test_in_directory(is_the_group_of_the_socket_of_qemu_s_own_daemon),
        unit_test_in_directory(is_the_group_libvirt_if_everybody_may_write_to_the_socket),
        unit_test_in_directory(
            is_root_s_if_everybody_may_write_and_there_is_no_group_libvirt),
        unit_test_in_directory(is_root_s_where_the_group_may_not_write_to_the_socket),
        unit_test_in_directory(is_root_s_where_there_is_no_socket),
        unit_test_in_directory(knows_the_user_of_qemu_by_its_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
