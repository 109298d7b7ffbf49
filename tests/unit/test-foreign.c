/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disks that another tool gave the domain for cloud-init: wire/disk.c. */
#include "config.h"

#include "base/memory.h"
#include "base/names.h"
#include "domain/domain.h"
#include "unit.h"
#include "wire/parts.h"

static struct disk
make_disk(const char *device, const char *source, enum need_word label)
{
    return (struct disk){
        .device = (char *)device,
        .source = (char *)source,
        .name = (char *)source,
        .target = (char *)"sda",
        .label = label,
    };
}

static void
assert_is_seed(bool expected, const char *device, const char *source,
               enum need_word label)
{
    const struct disk disk = make_disk(device, source, label);

    if (!foreign_seed_reason(&disk) == expected)
        print_error("%s '%s' with label %d\n", device, source, label);
    assert_int_equal(foreign_seed_reason(&disk) != NULL, expected);
}

static void
knows_the_disks_of_other_tools_by_name(void **state)
{
    const char *const names[] = {
        "/run/vdsm/payload/4dea22b3.img",
        "/var/run/vdsm/payload/4dea22b3.img",
        "PAYLOAD:",
        "/tmp/virtinst-ab12cd34-cloudinit.iso",
        "/var/lib/libvirt/images/web1-cidata.iso",
        "/srv/web1-cloud-init.iso",
        "/srv/cloudinit.iso",
        "/srv/seed.img",
        "/srv/SEED.ISO",
        "/srv/web1-seed.qcow2",
        "/var/lib/libvirt/images/web1-commoninit.iso",
        "/var/lib/nova/instances/4dea22b3/disk.config",
        "/dev/vg0/vm-100-cloudinit",
        "/dev/vg0/web1-seed",
        "/srv/my-seed.iso",
        "/var/run/kubevirt-ephemeral-disks/noCloud.iso",
        "configdrive.iso",
    };

    const char *const devices[] = {"cdrom", "disk", "floppy", "lun"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_is_seed(true, devices[i % ARRAY_SIZE(devices)], names[i], NEED_WORD_NONE);
}

/* A disk without a path; `named` is what is shown of it. */
static void
assert_seen(const char *type, const char *source, const char *named, bool is_seed)
{
    cleanup_free char *xml =
        xasprintf("<domain type='kvm'><name>x</name><devices><disk type='%s' "
                  "device='cdrom'>%s<target dev='sda'/></disk></devices></domain>",
                  type, source);
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct disk *disk;

    unit_domain_read(&unit, xml);
    disk = unit.domain.disks;
    if (named)
        assert_string_equal(disk->name, named);
    else
        assert_null(disk->name);
    assert_int_equal(foreign_seed_reason(disk) != NULL, is_seed);
}

static void
knows_volumes_and_network_disks_by_name(void **state)
{
    (void)state;
    assert_seen("volume", "<source pool='p' volume='commoninit.iso'/>", "commoninit.iso",
                true);
    assert_seen("volume", "<source pool='p' volume='data.iso'/>", "data.iso", false);
    assert_seen("network", "<source protocol='https' name='seeds/cloud-init.iso'/>",
                "seeds/cloud-init.iso", true);
    assert_seen("network", "<source protocol='rbd' name='vms/web1-cidata'/>",
                "vms/web1-cidata", true);
    assert_seen("network", "<source protocol='nbd'/>", "network", false);
    assert_seen("vhostuser", "<source type='unix' path='/run/seed.iso'/>", "vhostuser",
                false);
    assert_seen("file", "", NULL, false);
    assert_seen("file", "<source startupPolicy='optional'/>", NULL, false);
    assert_seen("dir", "<source dir='/srv/cidata'/>", NULL, false);
}

static void
leaves_the_disk_alone_that_the_guest_boots_from(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    unit_domain_read(&unit, "<domain type='kvm'><name>x</name><devices>"
                            "<disk type='block'><source dev='/dev/vg/a-seed'/></disk>"
                            "<disk type='block'><source dev='/dev/vg/b-seed'/>"
                            "<boot order='2'/></disk>"
                            "</devices></domain>");
    assert_non_null(foreign_seed_reason(&unit.domain.disks[0]));
    assert_null(foreign_seed_reason(&unit.domain.disks[1]));
    unit.domain.disks[1].label = NEED_WORD_LABEL_OF_SEED;
    assert_non_null(foreign_seed_reason(&unit.domain.disks[1]));
}

/* The hook, which knows only its name, would refuse it. */
static void
refuses_a_volume_by_its_name_whatever_its_label(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    unit_domain_read(&unit, "<domain type='kvm'><name>x</name><devices>"
                            "<disk type='volume' device='cdrom'>"
                            "<source pool='p' volume='seed.iso'/></disk>"
                            "</devices></domain>");
    unit.domain.disks[0].label = NEED_WORD_LABEL_OTHER;
    assert_non_null(foreign_seed_reason(&unit.domain.disks[0]));
}

static void
leaves_other_disks_alone(void **state)
{
    (void)state;
    assert_is_seed(false, "cdrom", NULL, NEED_WORD_NONE);
    assert_is_seed(false, "cdrom", "/srv/debian-12-netinst.iso", NEED_WORD_NONE);
    assert_is_seed(false, "cdrom", "/srv/birdseed.iso", NEED_WORD_NONE);
    assert_is_seed(false, "cdrom", "/srv/seed.iso.d/debian.iso", NEED_WORD_NONE);
    assert_is_seed(false, "disk", "/srv/seed.img", NEED_WORD_LABEL_OTHER);
    assert_is_seed(false, "disk", "/srv/debian-cloud-init.qcow2", NEED_WORD_NONE);
    assert_is_seed(false, "disk", "/dev/vg0/seedling", NEED_WORD_NONE);
}

static void
believes_the_label_more_than_the_name(void **state)
{
    (void)state;
    assert_is_seed(true, "cdrom", "/srv/x.iso", NEED_WORD_LABEL_OF_SEED);
    assert_is_seed(true, "disk", "/srv/x.img", NEED_WORD_LABEL_OF_SEED);
    assert_is_seed(false, "cdrom", "/srv/cloud-init.iso", NEED_WORD_LABEL_OTHER);
    assert_is_seed(true, "cdrom", "/run/vdsm/payload/x.img", NEED_WORD_LABEL_OTHER);
}

static void
never_takes_our_own_seed_for_one(void **state)
{
    cleanup_free char *path = seed_path(UNIT_UUID);

    (void)state;
    assert_true(seed_path_is(path));
    assert_false(seed_path_is("/run/libvirt/virt-seedx/a.iso"));
    assert_is_seed(false, "cdrom", path, NEED_WORD_LABEL_OF_SEED);
}

static void
says_which_disk_it_is_and_what_to_do(void **state)
{
    const char *const paths[] = {"/srv/seed.iso", "/srv/x.iso"};
    const enum need_word labels[] = {NEED_WORD_NONE, NEED_WORD_LABEL_OF_SEED};
    const struct wire_options options = {.replace = false};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        cleanup_free char *xml =
            xasprintf("<domain type='kvm'><name>x</name><devices>"
                      "<disk device='cdrom'><source file='%s'/><target dev='sda'/></disk>"
                      "</devices></domain>",
                      paths[i]);
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_wiring struct wiring wiring = {0};
        struct failure *failure = NULL;

        unit_domain_read(&unit, xml);
        unit.domain.disks[0].label = labels[i];
        assert_int_equal(wire_remove_foreign(&unit.domain, &options, &wiring, &failure),
                         -1);
        assert_failure(&failure, FAILURE_FOREIGN_SEED);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_disks_of_other_tools_by_name),
        cmocka_unit_test(knows_volumes_and_network_disks_by_name),
        cmocka_unit_test(leaves_other_disks_alone),
        cmocka_unit_test(leaves_the_disk_alone_that_the_guest_boots_from),
        cmocka_unit_test(refuses_a_volume_by_its_name_whatever_its_label),
        cmocka_unit_test(believes_the_label_more_than_the_name),
        cmocka_unit_test(never_takes_our_own_seed_for_one),
        cmocka_unit_test(says_which_disk_it_is_and_what_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
