/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a domain is, read from its XML: domain/domain.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "domain/xml.h"
#include "unit.h"

static void
assert_refused(const char *xml, enum failure_code code)
{
    cleanup_xml xmlDoc *doc = unit_parse(xml);
    cleanup_domain struct domain domain = {0};
    struct failure *failure = NULL;

    assert_int_equal(domain_read(&domain, doc, &failure), -1);
    assert_failure(&failure, code);
}

static void
reads_what_identifies_it(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    unit_domain_read(&unit,
                     "<domain type='qemu'><name>web1</name><uuid>" UNIT_UUID "</uuid>"
                     "<os><type arch='aarch64' machine='virt-7.2'>hvm</type></os>"
                     "</domain>");
    assert_string_equal(unit.domain.name, "web1");
    assert_string_equal(unit.domain.uuid, UNIT_UUID);
    assert_string_equal(unit.domain.arch, "aarch64");
    assert_string_equal(unit.domain.machine, "virt-7.2");
    assert_int_equal(unit.domain.disk_count, 0);
}

static void
reads_the_least_that_libvirt_defines(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    unit_domain_read(&unit, "<domain type='kvm'><name>x</name></domain>");
    assert_string_equal(unit.domain.uuid, "");
    assert_null(unit.domain.arch);
    assert_null(unit.domain.machine);
}

static void
takes_a_uuid_in_every_form_of_libvirts(void **state)
{
    const char *const forms[] = {
        UNIT_UUID,
        "4DEA22B3-1D52-D8F3-2516-782E98AB3FA0",
        "4dea22b31d52d8f32516782e98ab3fa0",
        "\n  4dea22b3-1d52-d8f3-2516-782e98ab3fa0\n",
        "4dea-22b3-1d52-d8f3-2516-782e-98ab-3fa0",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_free char *xml = xasprintf(
            "<domain type='kvm'><name>x</name><uuid>%s</uuid></domain>", forms[i]);

        unit_domain_read(&unit, xml);
        assert_string_equal(unit.domain.uuid, UNIT_UUID);
    }
}

static void
refuses_a_uuid_that_is_none(void **state)
{
    const char *const texts[] = {" ",
                                 "x",
                                 "4dea22b3-1d52-d8f3-2516-782e98ab3fa",
                                 "4dea22b3-1d52-d8f3-2516-782e98ab3fa00",
                                 "4dea22b3-1d52-d8f3-2516-782e98ab3fag",
                                 "../../../../etc/passwd"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        cleanup_free char *xml = xasprintf(
            "<domain type='kvm'><name>x</name><uuid>%s</uuid></domain>", texts[i]);

        assert_refused(xml, FAILURE_DOMAIN_UUID);
    }
}

/* tests/libvirt/wiring.bats compares the rule with libvirt's. */
static void
takes_the_uuid_of_sysinfo_if_there_is_no_other(void **state)
{
    static const struct {
        const char *uuid;       /* <uuid>, or NULL */
        const char *in_sysinfo; /* or NULL */
        const char *expected;   /* NULL if refused */
    } cases[] = {
        {NULL, NULL, ""},
        {"", NULL, ""},
        {NULL, "", ""},
        {NULL, UNIT_UUID, UNIT_UUID},
        {"", UNIT_UUID, UNIT_UUID},
        {UNIT_UUID, "", UNIT_UUID},
        {UNIT_UUID, "4DEA22B31D52D8F32516782E98AB3FA0", UNIT_UUID},
        {UNIT_UUID, UNIT_OTHER_UUID, NULL},
        {UNIT_UUID, "web1", NULL},
        {NULL, "web1", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *uuid = cases[i].uuid;
        const char *in_sysinfo = cases[i].in_sysinfo;
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_free char *xml =
            xasprintf("<domain type='kvm'><name>x</name>%s%s%s<sysinfo type='fwcfg'/>"
                      "<sysinfo type='smbios'><system>%s%s%s</system></sysinfo></domain>",
                      uuid ? "<uuid>" : "", uuid ? uuid : "", uuid ? "</uuid>" : "",
                      in_sysinfo ? "<entry name='uuid'>" : "",
                      in_sysinfo ? in_sysinfo : "", in_sysinfo ? "</entry>" : "");

        if (!cases[i].expected) {
            assert_refused(xml, FAILURE_DOMAIN_UUID);
            continue;
        }
        unit_domain_read(&unit, xml);
        assert_string_equal(unit.domain.uuid, cases[i].expected);
    }
}

static void
needs_a_uuid_to_be_started(void **state)
{
    cleanup_unit_domain struct unit_domain without = {0};
    cleanup_unit_domain struct unit_domain with = {0};
    struct failure *failure = NULL;

    (void)state;
    unit_domain_read(&without, "<domain type='kvm'><name>x</name></domain>");
    assert_int_equal(domain_require_uuid(&without.domain, &failure), -1);
    assert_failure(&failure, FAILURE_DOMAIN_UUID);
    unit_domain_read(&with, "<domain type='kvm'><name>x</name><uuid>" UNIT_UUID "</uuid>"
                            "</domain>");
    assert_int_equal(domain_require_uuid(&with.domain, &failure), 0);
}

static void
refuses_what_is_no_domain_of_qemus(void **state)
{
    (void)state;
    assert_refused("<network><name>x</name></network>", FAILURE_DOMAIN);
    assert_refused("<domain xmlns='urn:x' type='kvm'><name>x</name></domain>",
                   FAILURE_DOMAIN);
    assert_refused("<domain><name>x</name></domain>", FAILURE_DOMAIN);
    assert_refused("<domain type='lxc'><name>x</name></domain>", FAILURE_DOMAIN);
    assert_refused("<domain type='xen'><name>x</name></domain>", FAILURE_DOMAIN);
    assert_refused("<domain type='kvm'/>", FAILURE_DOMAIN);
    assert_refused("<domain type='kvm'><name/></domain>", FAILURE_DOMAIN);
}

/* --- disks ------------------------------------------------------------------------ */

/* Reads a domain with those devices. */
static void
read_devices(struct unit_domain *unit, const char *devices)
{
    cleanup_free char *xml = xasprintf("<domain type='kvm'><name>x</name><devices>%s"
                                       "</devices></domain>",
                                       devices);

    unit_domain_read(unit, xml);
}

static void
reads_a_disk(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct disk *disk;

    (void)state;
    read_devices(&unit,
                 "<disk type='file' device='cdrom'><driver name='qemu' type='raw'/>"
                 "<source file='/srv/a.iso'/><target dev='sdb' bus='sata'/>"
                 "<boot order='2'/></disk>");
    assert_int_equal(unit.domain.disk_count, 1);
    disk = &unit.domain.disks[0];
    assert_string_equal(disk->device, "cdrom");
    assert_string_equal(disk->source, "/srv/a.iso");
    assert_string_equal(disk->format, "raw");
    assert_string_equal(disk->target, "sdb");
    assert_int_equal(disk->label, NEED_WORD_NONE);
    assert_int_equal(disk->bus, DOMAIN_BUS_SATA);
    assert_int_equal(disk->boot_order, 2);
    assert_int_equal(disk->address.unit, 1);
}

static void
gives_a_disk_what_libvirt_would(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct disk *disks;

    (void)state;
    read_devices(&unit,
                 "<disk><target dev='hdc'/></disk>"
                 "<disk type='block'><source dev='/dev/sr0'/><target dev='vda'/></disk>"
                 "<disk type='network'><source protocol='rbd' name='a/b'/></disk>"
                 "<disk><target dev='xvda' bus='xen'/><boot order='x'/></disk>");
    disks = unit.domain.disks;
    assert_int_equal(unit.domain.disk_count, 4);
    assert_string_equal(disks[0].device, "disk");
    assert_int_equal(disks[0].bus, DOMAIN_BUS_IDE);
    assert_int_equal(disks[0].address.bus, 1);
    assert_null(disks[0].source);
    assert_null(disks[0].format);
    assert_int_equal(disks[1].bus, DOMAIN_BUS_VIRTIO);
    assert_string_equal(disks[1].source, "/dev/sr0");
    assert_null(disks[2].source);
    assert_string_equal(disks[2].target, "");
    assert_int_equal(disks[3].bus, DOMAIN_BUS_OTHER);
    assert_int_equal(disks[3].boot_order, 0);
}

static void
reads_no_more_devices_of_a_kind_than_the_limit(void **state)
{
    const char *const devices[] = {"<disk/>", "<controller/>", "<hostdev/>"};

    (void)state;
    for (size_t kind = 0; kind < 3; kind++) {
        cleanup_buffer struct buffer xml = {0};

        buffer_append_string(&xml, "<domain type='kvm'><name>x</name><devices>");
        for (int i = 0; i <= LIMIT_DEVICES; i++)
            buffer_append_string(&xml, devices[kind]);
        buffer_append_string(&xml, "</devices></domain>");
        assert_refused(xml.data, FAILURE_LIMIT);
    }
}

static void
removes_a_disk_and_moves_the_others_up(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    read_devices(&unit, "<disk><target dev='vda'/></disk><disk><target dev='vdb'/></disk>"
                        "<disk><target dev='vdc'/></disk>");
    domain_remove_disk(&unit.domain, 1);
    domain_remove_disk(&unit.domain, 1);
    assert_int_equal(unit.domain.disk_count, 1);
    assert_string_equal(unit.domain.disks[0].target, "vda");
    assert_ptr_equal(xml_child(xml_child(unit.domain.root, "devices"), "disk"),
                     unit.domain.disks[0].node);
    assert_null(xml_next(unit.domain.disks[0].node, "disk"));
}

static void
knows_the_names_of_buses(void **state)
{
    (void)state;
    for (enum domain_bus bus = DOMAIN_BUS_VIRTIO; bus <= DOMAIN_BUS_USB; bus++)
        assert_int_equal(domain_bus_parse(domain_bus_name(bus)), bus);
    assert_int_equal(domain_bus_parse("xen"), DOMAIN_BUS_OTHER);
    assert_int_equal(domain_bus_parse("other"), DOMAIN_BUS_OTHER);
    assert_int_equal(domain_bus_parse(""), DOMAIN_BUS_OTHER);
}

static void
knows_paths_of_any_scope(void **state)
{
    (void)state;
    assert_true(path_is_kept("/srv/seeds/../x", "/srv/seeds", SEED_SUFFIX));
    assert_false(path_is_kept("/srv/seeds-old/x", "/srv/seeds", SEED_SUFFIX));
    assert_true(
        path_is_kept(VIRT_SEED_RUNDIR "/" UNIT_UUID ".iso", "/srv/seeds", SEED_SUFFIX));
    assert_true(path_is_kept(VIRT_SEED_RUNSTATEDIR "/user/7/libvirt/virt-seed/" UNIT_UUID
                                                   ".iso",
                             "/srv/seeds", SEED_SUFFIX));
    assert_true(path_is_kept("/home/ann/.local/state/virt-seed/" UNIT_UUID ".report",
                             "/srv/seeds", REPORT_SUFFIX));
    assert_true(path_is_kept("/a/.cache/libvirt/virt-seed/" UNIT_UUID ".iso",
                             "/srv/seeds", SEED_SUFFIX));
    assert_false(path_is_kept("/root" VIRT_SEED_RUNDIR "/" UNIT_UUID ".iso", "/srv/seeds",
                              SEED_SUFFIX));
    assert_false(
        path_is_kept("/virt-seeds/" UNIT_UUID ".iso", "/srv/seeds", SEED_SUFFIX));
    assert_false(path_is_kept(VIRT_SEED_RUNDIR "/web1.iso", "/srv/seeds", SEED_SUFFIX));
    assert_false(path_is_kept(&(VIRT_SEED_RUNDIR "/" UNIT_UUID ".iso")[1], "/srv/seeds",
                              SEED_SUFFIX));
    assert_false(path_is_kept(VIRT_SEED_RUNDIR "/" UNIT_UUID ".report", "/srv/seeds",
                              SEED_SUFFIX));
    assert_false(path_is_kept("/" UNIT_UUID ".iso", "/srv/seeds", SEED_SUFFIX));
}

static void
finds_the_port_that_passt_forwards(void **state)
{
    static const struct {
        const char *xml;
        long port;
        const char *address;
    } cases[] = {
        {"", 0, ""},
        {"<portForward proto='tcp'/>", 0, ""},
        {"<portForward proto='udp'><range start='22'/></portForward>", 0, ""},
        {"<portForward proto='tcp'><range start='22'/></portForward>", 22, "127.0.0.1"},
        {"<portForward proto='tcp' address='::'><range start='22'/></portForward>", 22,
         "::1"},
        {"<portForward proto='tcp' address='192.0.2.1'><range start='2222' to='22'/>"
         "</portForward>",
         2222, "192.0.2.1"},
        {"<portForward proto='tcp'><range start='2000' end='2099' to='80'/>"
         "<range start='2200' end='2230' to='10'/></portForward>",
         2212, "127.0.0.1"},
        {"<portForward proto='tcp'><range start='20' end='30' exclude='yes'/>"
         "<range start='2022' to='21'/></portForward>",
         0, ""},
        {"<portForward proto='tcp' address='-oA=b'><range start='22'/></portForward>"
         "<portForward proto='tcp' address='127.0.0.2'><range start='23' to='22'/>"
         "</portForward>",
         23, "127.0.0.2"},
        {"<portForward proto='tcp'><range start='-1' to='22'/><range start='70000' "
         "to='22'/></portForward>",
         0, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_free char *xml =
            xasprintf("<domain type='kvm'><name>x</name><devices><interface type='user'>"
                      "<backend type='passt'/>%s</interface></devices></domain>",
                      cases[i].xml);
        char address[INET6_ADDRSTRLEN] = "";

        unit_domain_read(&unit, xml);
        assert_int_equal(domain_find_forwarding(&unit.domain, 22, address),
                         cases[i].port);
        assert_string_equal(address, cases[i].address);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_paths_of_any_scope),
        cmocka_unit_test(reads_what_identifies_it),
        cmocka_unit_test(reads_the_least_that_libvirt_defines),
        cmocka_unit_test(takes_a_uuid_in_every_form_of_libvirts),
        cmocka_unit_test(refuses_a_uuid_that_is_none),
        cmocka_unit_test(takes_the_uuid_of_sysinfo_if_there_is_no_other),
        cmocka_unit_test(needs_a_uuid_to_be_started),
        cmocka_unit_test(refuses_what_is_no_domain_of_qemus),
        cmocka_unit_test(reads_a_disk),
        cmocka_unit_test(gives_a_disk_what_libvirt_would),
        cmocka_unit_test(reads_no_more_devices_of_a_kind_than_the_limit),
        cmocka_unit_test(removes_a_disk_and_moves_the_others_up),
        cmocka_unit_test(knows_the_names_of_buses),
        cmocka_unit_test(finds_the_port_that_passt_forwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
