/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths that a definition may not contain: host/forbidden-paths.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "host/forbidden-paths.h"
#include "unit.h"

#define SEED VIRT_SEED_RUNDIR "/" UNIT_UUID SEED_SUFFIX
#define OTHER_SEED VIRT_SEED_RUNDIR "/" UNIT_OTHER_UUID SEED_SUFFIX
#define REPORT VIRT_SEED_REPORTDIR "/" UNIT_UUID REPORT_SUFFIX
#define LOG VIRT_SEED_REPORTDIR "/" UNIT_UUID LOG_SUFFIX
#define DISK "<devices><disk type='file'><source file='%s'/></disk></devices>"
#define CHANNEL_TO(path)                                                                 \
    "<devices><channel type='file'><source path='" path "'/></channel></devices>"
#define CHANNEL CHANNEL_TO("%s")

/* Makes our directories, as they are on a host, in the test's directory. */
static int
make_host(void **state)
{
    static const char *const paths[] = {VIRT_SEED_RUNDIR, VIRT_SEED_REPORTDIR,
                                        VIRT_SEED_STATEDIR, VIRT_SEED_CONFDIR};
    int root = unit_directory(state);

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        cleanup_close int fd = fs_make_directories(root, paths[i], 0755);

        assert_true(fd >= 0);
    }
    unit_make_file(root, &OTHER_SEED[1], 0600, "");
    return root;
}

/* Checks a domain with that content, in which %s is the path. */
static int
check(int root, const char *content, const char *path, struct failure **failure)
{
    const char *hole = strstr(content, "%s");
    cleanup_buffer struct buffer xml = {0};

    buffer_printf(
        &xml,
        "<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>"
        "<name>web1</name><uuid>" UNIT_UUID "</uuid>%.*s%s%s</domain>",
        (int)(hole - content), content, path, hole + strlen("%s"));
    return forbidden_paths_check(root, &xml, UNIT_UUID, failure);
}

static void
assert_forbidden(int root, const char *content, const char *path)
{
    struct failure *failure = NULL;

    if (check(root, content, path, &failure) == 0)
        fail_msg("'%s' is allowed in %s", path, content);
    assert_failure(&failure, FAILURE_FORBIDDEN_PATH);
}

static void
assert_allowed(int root, const char *content, const char *path)
{
    struct failure *failure = NULL;
    int result = check(root, content, path, &failure);

    assert_no_failure(failure);
    assert_int_equal(result, 0);
}

/* --- which paths ---------------------------------------------------------------------- */

static void
forbids_each_directory_and_what_is_in_it(void **state)
{
    static const char *const paths[] = {
        OTHER_SEED,
        VIRT_SEED_RUNDIR,
        VIRT_SEED_RUNDIR "/",
        VIRT_SEED_RUNDIR "/imds/none/yet",
        VIRT_SEED_REPORTDIR "/" UNIT_OTHER_UUID REPORT_SUFFIX,
        VIRT_SEED_REPORTDIR "/" UNIT_OTHER_UUID LOG_SUFFIX,
        VIRT_SEED_STATEDIR "/" UNIT_UUID LOG_SUFFIX,
        VIRT_SEED_STATEDIR "/" UNIT_UUID RECORD_SUFFIX,
        VIRT_SEED_STATEDIR "/secrets/" UNIT_UUID "/ssh_host_ed25519_key",
        VIRT_SEED_CONFDIR "/virt-seed.conf",
        VIRT_SEED_CONFDIR "/secrets/victim/allow",
    };
    int root = make_host(state);

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        assert_forbidden(root, DISK, paths[i]);
        assert_forbidden(root, CHANNEL, paths[i]);
    }
}

static void
forbids_each_spelling(void **state)
{
    static const char *const paths[] = {
        "/%s",
        "/.%s",
        "/.//.%s",
        "/tmp/..%s",
        "/../..%s",
        "/link/in-link",
        "/to-seed",
        "/link/none",
        "relative%s",
        "/link/../virt-seed/none",
        "/tmp/../link/none",
    };
    int root = make_host(state);

    unit_make_directory(root, "tmp", 0755);
    unit_make_link(root, "link", VIRT_SEED_RUNDIR);
    unit_make_link(root, "relative", ".");
    unit_make_link(root, "to-seed", OTHER_SEED);
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        const char *hole = strstr(paths[i], "%s");
        cleanup_free char *path =
            hole ? xasprintf("%.*s%s", (int)(hole - paths[i]), paths[i], OTHER_SEED)
                 : xstrdup(paths[i]);

        assert_forbidden(root, DISK, path);
    }
    /* QEMU and virtlogd run in "/". */
    assert_forbidden(root, CHANNEL, &OTHER_SEED[1]);
}

static void
allows_paths_that_lead_elsewhere(void **state)
{
    cleanup_free char *long_path = xcalloc(5001, 1);
    int root = make_host(state);
    const char *const paths[] = {
        "/var/lib/libvirt/images/web1.qcow2",
        "/srv/virt-seed/web1.qcow2",
        VIRT_SEED_RUNDIR "-2/web1.iso",
        VIRT_SEED_RUNDIR "/../web1.iso",
        "/run",
        "/",
        "//",
        "pool/virt-seed",
        "http://mirror.example.org/virt-seed/web1.iso",
        "plain",
        "",
        long_path,
    };

    memset(long_path, '/', 5000);
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
        assert_allowed(root, DISK, paths[i]);
}

/* Every user can enter our directories, and be there with a process when QEMU or virtlogd
 * opens the path, wherever that process was before. */
static void
forbids_links_of_proc(void **state)
{
    int root = fs_open_root("/");

    (void)state;
    assert_true(root >= 0);
    assert_forbidden(root, DISK, "/proc/self/root" OTHER_SEED);
    assert_forbidden(root, DISK, "/proc/self/root/etc/fstab");
    assert_forbidden(root, CHANNEL, "/proc/self/cwd/none/yet");
    assert_forbidden(root, CHANNEL, "/proc/1/../self/fd/0");
    /* There may be such a process before libvirt opens the path. */
    assert_forbidden(root, CHANNEL, "/proc/4194305/cwd/none/yet");
    assert_allowed(root, DISK, "/proc/cpuinfo");
    close_pointer(&root);
}

/* A directory may be made, or found in another one, only when the path is opened. */
static void
forbids_a_path_that_leaves_what_does_not_exist(void **state)
{
    static const char *const places[] = {
        CHANNEL_TO("/none/..%s"),
        CHANNEL_TO("/none/./yet//../..%s"),
        CHANNEL_TO("keymaps/../../../../..%s"),
        CHANNEL_TO("/file/..%s"),
        CHANNEL_TO("/none/../link/none/../..%s"),
    };
    int root = make_host(state);

    unit_make_file(root, "file", 0644, "");
    unit_make_link(root, "link", "file");
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        assert_forbidden(root, places[i], OTHER_SEED);
    assert_allowed(root, CHANNEL, "/none/../a/none");
    assert_allowed(root, CHANNEL, "/none/../a/virt-seed-images");
}

/* --- how much work -------------------------------------------------------------------- */

/* Each of them costs the kernel 38 links of 4 KiB. */
static void
refuses_paths_that_take_too_long(void **state)
{
    cleanup_buffer struct buffer xml = {0};
    cleanup_free char *missing = xcalloc(4096, 1);
    cleanup_free char *target = xcalloc(4096, 1);
    int root = make_host(state);
    struct failure *failure = NULL;
    clock_t start;

    for (size_t i = 0; i < 4000; i += 2)
        memcpy(missing + i, "/x", 2);
    for (size_t i = 0; i < 4080; i += 2)
        memcpy(target + i, "./", 2);
    for (int i = 0; i < 38; i++) {
        cleanup_free char *link = xasprintf("l%d", i);
        cleanup_free char *next = xasprintf("%sl%d", target, i + 1);

        unit_make_link(root, link, next);
    }
    unit_make_directory(root, "l38", 0755);
    for (int i = 0; i < 150; i++)
        buffer_printf(&xml, "<entry>/l0/%d%s</entry>", i, missing);
    start = clock();
    check(root, "<sysinfo type='smbios'><oemStrings>%s</oemStrings></sysinfo>", xml.data,
          &failure);
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
    assert_non_null(failure);
    assert_non_null(strstr(failure->message, "takes too long"));
    assert_failure(&failure, FAILURE_FORBIDDEN_PATH);
}

/* They fill the limit of a domain's XML. */
static void
looks_up_a_path_once(void **state)
{
    static const char *const pieces[] = {"<x a='/a'/>", "<x>/tmp/a</x>"};
    int root = make_host(state);

    unit_make_directory(root, "tmp", 0755);
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        cleanup_buffer struct buffer xml = {0};
        struct failure *failure = NULL;
        const clock_t start = clock();

        buffer_reserve(&xml, LIMIT_DOMAIN_XML);
        buffer_append_string(&xml, "<domain>");
        while (xml.size < LIMIT_DOMAIN_XML - 100)
            buffer_append_string(&xml, pieces[i]);
        buffer_append_string(&xml, "</domain>");
        forbidden_paths_check(root, &xml, UNIT_UUID, &failure);
        assert_no_failure(failure);
        assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
    }
}

/* The kernel opens a path of 4095 bytes, and follows a link in it however long that is. */
static void
forbids_the_longest_paths(void **state)
{
    cleanup_free char *path = xcalloc(4096, 1);
    size_t length = strlen(OTHER_SEED);
    int root = make_host(state);

    memset(path, '/', 4095);
    memcpy(path + 4095 - length, OTHER_SEED, length);
    assert_forbidden(root, CHANNEL, path);
    memcpy(path, "x/..", 4);
    assert_forbidden(root, CHANNEL, path);
    length = strlen(VIRT_SEED_RUNDIR);
    memset(path, '/', 4095);
    memcpy(path + 4095 - length, VIRT_SEED_RUNDIR, length);
    memcpy(path, "tmp", 3);
    assert_allowed(root, CHANNEL, path);
    memcpy(path, "./.", 3);
    assert_forbidden(root, CHANNEL, path);
}

/* As a security module may keep the hook from looking, but not libvirt. */
static void
forbids_a_process_that_may_not_be_looked_into(void **state)
{
    cleanup_close int root = fs_open_root("/");

    unit_become_nobody(state);
    assert_forbidden(root, DISK, "/proc/1/root/etc/fstab");
    unit_become_self();
}

/* --- in which elements ---------------------------------------------------------------- */

static void
assert_only_seeds_forbidden(int root, const char *const *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_forbidden(root, places[i], OTHER_SEED);
        assert_forbidden(root, places[i], SEED);
        assert_allowed(root, places[i], "/usr/share/some/file");
    }
}

static void
forbids_them_everywhere(void **state)
{
    static const char *const places[] = {
        "<os><kernel>%s</kernel></os>",
        "<os><initrd>%s</initrd></os>",
        "<os><loader type='rom'>%s</loader></os>",
        "<os><nvram template='%s'/></os>",
        "<sysinfo type='fwcfg'><entry name='opt/x' file='%s'/></sysinfo>",
        "<devices><emulator>%s</emulator></devices>",
        "<devices><serial type='file'><source path='%s'/></serial></devices>",
        "<devices><serial type='pty'><log file='%s'/></serial></devices>",
        "<devices><disk><backingStore type='file'><source file='%s'/></backingStore>"
        "</disk></devices>",
        "<devices><disk><mirror><source file='%s'/></mirror></disk></devices>",
        "<devices><interface type='user'><rom file='%s'/></interface></devices>",
        "<devices><rng><backend model='random'>%s</backend></rng></devices>",
        "<devices><filesystem><source dir='%s'/></filesystem></devices>",
        "<qemu:commandline><qemu:arg value='%s'/></qemu:commandline>",
        "<qemu:commandline><qemu:arg value='file,id=x,path=%s,append=on'/>"
        "</qemu:commandline>",
        "<qemu:commandline><qemu:arg value='{\"filename\":\"%s\"}'/></qemu:commandline>",
        "<qemu:commandline><qemu:env name='X' value='%s'/></qemu:commandline>",
        "<qemu:override><qemu:device alias='x'><qemu:frontend>"
        "<qemu:property name='x' value='%s'/></qemu:frontend></qemu:device>"
        "</qemu:override>",
        "<devices><disk><source file='file:%s'/></disk></devices>",
        "<devices><disk><source file='json:{\"filename\":\"%s\"}'/></disk></devices>",
        "<devices><a-later-one><b><c d='%s'/></b></a-later-one></devices>",
    };
    int root = make_host(state);

    assert_only_seeds_forbidden(root, places, ARRAY_SIZE(places));
}

/* QEMU takes the modules of a multiboot kernel and ACPI's tables as lists. */
static void
forbids_them_in_lists(void **state)
{
    static const char *const places[] = {
        "<os><initrd>/boot/module,%s</initrd></os>",
        "<os><initrd>%s,/boot/module</initrd></os>",
        "<os><initrd>%s of/../../../../../../module</initrd></os>",
        "<os><initrd>/boot/module with,/..%s words,x</initrd></os>",
        "<os><acpi><table type='slic'>/boot/slic:%s</table></acpi></os>",
        "<tpm><source type='dir' path='/tmp,backend-uri=file://%s'/></tpm>",
        /* libvirt does not double the comma. */
        "<sysinfo type='fwcfg'><entry name='opt/x'>,file=%s</entry></sysinfo>",
        "<sysinfo type='fwcfg'><entry name='opt/x' file='/x,file=%s'/></sysinfo>",
    };
    int root = make_host(state);

    assert_only_seeds_forbidden(root, places, ARRAY_SIZE(places));
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        assert_allowed(root, places[i], "/srv/virt-seed-2/file");
    assert_forbidden(root, "<os><initrd>/boot/module,%s</initrd></os>", &OTHER_SEED[1]);
    /* A link has another name. */
    unit_make_link(root, "link", VIRT_SEED_RUNDIR);
    assert_forbidden(root, "<os><initrd>/boot/module,%s</initrd></os>", "/link/x");
    assert_forbidden(root, "<os><acpi><table type='slic'>%s</table></acpi></os>",
                     "/boot/slic:/link/x");
    assert_forbidden(root,
                     "<qemu:commandline><qemu:arg value='x,path=%s'/>"
                     "</qemu:commandline>",
                     "link/x");
    assert_allowed(root, "<os><cmdline>ro init=%s</cmdline></os>", OTHER_SEED);
}

static void
allows_the_domain_its_own_seed_report_and_log(void **state)
{
    int root = make_host(state);

    assert_allowed(root, DISK, SEED);
    assert_allowed(root, CHANNEL, REPORT);
    assert_allowed(root, CHANNEL, LOG);
    assert_forbidden(root, CHANNEL, SEED);
    assert_forbidden(root, DISK, REPORT);
    assert_forbidden(root, DISK, LOG);
}

static void
ignores_texts(void **state)
{
    int root = make_host(state);

    assert_allowed(root, "<title>%s</title>", OTHER_SEED);
    assert_allowed(root, "<description>%s</description>", OTHER_SEED);
    assert_allowed(root, "<metadata><x:y xmlns:x='urn:x' z='%s'/></metadata>",
                   OTHER_SEED);
    assert_forbidden(root, "<devices><title>%s</title></devices>", OTHER_SEED);
}

static void
names_device_and_path_but_no_argument(void **state)
{
    struct failure *failure = NULL;
    int root = make_host(state);

    assert_int_equal(check(root, CHANNEL, "/" OTHER_SEED, &failure), -1);
    assert_non_null(strstr(failure->message, "<channel> names '/" OTHER_SEED "'"));
    assert_non_null(strstr(failure->message, "leads into " VIRT_SEED_RUNDIR ","));
    assert_failure(&failure, FAILURE_FORBIDDEN_PATH);
    assert_int_equal(
        check(root,
              "<qemu:commandline><qemu:arg value='secret,data=s3cr3t,file=%s'/>"
              "</qemu:commandline>",
              OTHER_SEED, &failure),
        -1);
    assert_non_null(strstr(failure->message,
                           "<qemu:arg> names a path, which leads into a directory"));
    assert_null(strstr(failure->message, "s3cr3t"));
    assert_failure(&failure, FAILURE_FORBIDDEN_PATH);
}

/* Before the first start, not all of them exist. */
static void
checks_without_our_directories(void **state)
{
    int root = unit_directory(state);

    assert_allowed(root, DISK, SEED);
    assert_allowed(root, DISK, "/var/lib/libvirt/images/web1.qcow2");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(forbids_each_directory_and_what_is_in_it),
        unit_test_in_directory(forbids_each_spelling),
        unit_test_in_directory(allows_paths_that_lead_elsewhere),
        cmocka_unit_test(forbids_links_of_proc),
        unit_test_in_directory(forbids_a_path_that_leaves_what_does_not_exist),
        unit_test_in_directory(refuses_paths_that_take_too_long),
        unit_test_in_directory(looks_up_a_path_once),
        unit_test_in_directory(forbids_the_longest_paths),
        unit_test_in_directory(forbids_a_process_that_may_not_be_looked_into),
        unit_test_in_directory(forbids_them_everywhere),
        unit_test_in_directory(forbids_them_in_lists),
        unit_test_in_directory(allows_the_domain_its_own_seed_report_and_log),
        unit_test_in_directory(ignores_texts),
        unit_test_in_directory(names_device_and_path_but_no_argument),
        unit_test_in_directory(checks_without_our_directories),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
