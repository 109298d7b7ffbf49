/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where on a bus there is room for one more disk: wire/disk.c. */
#include "config.h"

#include <limits.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/xml.h"
#include "unit.h"
#include "wire/parts.h"

#define VIRTIO_SCSI "<controller type='scsi' index='0' model='virtio-scsi'/>"

struct drive_position {
    bool addressed;
    bool new_controller;
    struct drive_address address;
};

/* Adds the seed's disk to a domain with those devices. Return: its element; NULL on failure. */
static const xmlNode *
add_disk(struct unit_domain *unit, const char *devices, enum domain_bus bus,
         struct failure **failure)
{
    const struct request request = {.datasource = &datasources[0], .bus = bus};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_free char *xml = xasprintf("<domain type='kvm'><name>x</name><devices>%s"
                                       "</devices></domain>",
                                       devices);

    unit_domain_read(unit, xml);
    if (wire_disk(&unit->domain, &request, &wiring, failure) < 0)
        return NULL;
    xml_foreach(disk, xml_child(unit->domain.root, "devices"), "disk") {
        if (xml_attribute_is(xml_child(disk, "alias"), "name", SEED_DISK_ALIAS))
            return disk;
    }
    return NULL;
}

/* Asserts the position and the name that a new disk gets on the bus with those devices. */
static void
assert_position(const char *devices, enum domain_bus bus, struct drive_position expected,
                const char *target)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;
    const xmlNode *disk = add_disk(&unit, devices, bus, &failure);
    const xmlNode *address = xml_child(disk, "address");
    cleanup_free char *name = xml_attribute(xml_child(disk, "target"), "dev");

    assert_no_failure(failure);
    assert_string_equal(name, target);
    assert_int_equal(wire_find_controller(&unit.domain, "ua-virt-seed-scsi") != NULL,
                     expected.new_controller);
    assert_int_equal(address != NULL, expected.addressed);
    if (address) {
        const struct drive_address *wanted = &expected.address;

        assert_int_equal(xml_attribute_number(address, "controller", INT_MAX),
                         wanted->controller);
        assert_int_equal(xml_attribute_number(address, "bus", INT_MAX), wanted->bus);
        assert_int_equal(xml_attribute_number(address, "target", INT_MAX),
                         wanted->target);
        assert_int_equal(xml_attribute_number(address, "unit", INT_MAX), wanted->unit);
    }
}

static void
adds_a_controller_where_there_is_no_virtio_scsi(void **state)
{
    const struct drive_position first = {true, true, {0, 0, 1, 0}};
    const struct drive_position second = {true, true, {1, 0, 1, 0}};

    (void)state;
    assert_position("", DOMAIN_BUS_SCSI, first, "sda");
    assert_position("<controller type='usb' index='4'/>", DOMAIN_BUS_SCSI, first, "sda");
    assert_position("<controller type='scsi' index='0' model='lsilogic'/>",
                    DOMAIN_BUS_SCSI, second, "sda");
    assert_position("<controller type='scsi'/>", DOMAIN_BUS_SCSI, second, "sda");
}

/* libvirt makes the controllers that addresses name, as lsilogic. */
static void
adds_a_controller_beyond_those_that_addresses_imply(void **state)
{
    const struct drive_position second = {true, true, {1, 0, 1, 0}};
    const struct drive_position fourth = {true, true, {3, 0, 1, 0}};

    (void)state;
    assert_position("<disk><target dev='sda' bus='scsi'/></disk>", DOMAIN_BUS_SCSI,
                    second, "sdb");
    assert_position("<disk><target dev='sda' bus='scsi'/>"
                    "<address type='drive' controller='2'/></disk>",
                    DOMAIN_BUS_SCSI, fourth, "sdb");
    assert_position(
        "<hostdev type='scsi'><address type='drive' controller='0' target='1'/>"
        "</hostdev>",
        DOMAIN_BUS_SCSI, second, "sda");
}

static void
takes_a_free_target_of_virtio_scsi(void **state)
{
    const struct drive_position first = {true, false, {0, 0, 1, 0}};
    const struct drive_position third = {true, false, {0, 0, 3, 0}};

    (void)state;
    assert_position(VIRTIO_SCSI, DOMAIN_BUS_SCSI, first, "sda");
    assert_position(VIRTIO_SCSI "<disk><target dev='sda' bus='scsi'/></disk>",
                    DOMAIN_BUS_SCSI, first, "sdb");
    assert_position(VIRTIO_SCSI
                    "<disk><target dev='sdx' bus='scsi'/>"
                    "<address type='drive' target='1'/></disk>"
                    "<hostdev type='scsi'><address type='drive' target='2'/></hostdev>",
                    DOMAIN_BUS_SCSI, third, "sdy");
}

/* Return: host devices on targets 1 to 255 of controller 0, owned by the caller. */
static struct buffer
full_controller(void)
{
    struct buffer devices = {0};

    for (int target = 1; target <= 255; target++) {
        cleanup_free char *hostdev =
            xasprintf("<hostdev type='scsi'><address type='drive' controller='0' "
                      "target='%d'/></hostdev>",
                      target);

        buffer_append_string(&devices, hostdev);
    }
    return devices;
}

static void
goes_on_to_the_next_controller_where_one_is_full(void **state)
{
    cleanup_buffer struct buffer devices = full_controller();

    (void)state;
    buffer_append_string(&devices, VIRTIO_SCSI);
    assert_position(devices.data, DOMAIN_BUS_SCSI,
                    (struct drive_position){true, true, {1, 0, 1, 0}}, "sda");
    buffer_append_string(&devices,
                         "<controller type='scsi' index='7' model='virtio-scsi'/>");
    assert_position(devices.data, DOMAIN_BUS_SCSI,
                    (struct drive_position){true, false, {7, 0, 1, 0}}, "sda");
}

/* Takes minutes where each target of each is looked for in the document. */
static void
finds_a_place_among_as_many_devices_as_there_may_be(void **state)
{
    cleanup_buffer struct buffer devices = full_controller();

    (void)state;
    for (int i = 255; i < LIMIT_DEVICES; i++)
        buffer_append_string(&devices, "<hostdev type='scsi'><address type='drive'/>"
                                       "</hostdev>");
    for (int i = 0; i < LIMIT_DEVICES; i++)
        buffer_append_string(&devices, VIRTIO_SCSI);
    assert_position(devices.data, DOMAIN_BUS_SCSI,
                    (struct drive_position){true, true, {1, 0, 1, 0}}, "sda");
}

static void
finds_the_virtio_scsi_controller_among_others(void **state)
{
    const struct drive_position third = {true, false, {2, 0, 1, 0}};

    (void)state;
    assert_position("<controller type='scsi' index='0' model='lsilogic'/>"
                    "<controller type='sata' index='1'/>"
                    "<controller type='scsi' index='2' model='virtio-non-transitional'/>",
                    DOMAIN_BUS_SCSI, third, "sda");
}

static void
takes_the_last_free_port_of_sata(void **state)
{
    (void)state;
    assert_position("", DOMAIN_BUS_SATA,
                    (struct drive_position){true, false, {0, 0, 0, 5}}, "sda");
    assert_position("<disk><target dev='sdf' bus='sata'/></disk>", DOMAIN_BUS_SATA,
                    (struct drive_position){true, false, {0, 0, 0, 4}}, "sdg");
    assert_position("<disk><target dev='sda' bus='sata'/></disk>"
                    "<disk><target dev='sdb' bus='sata'/></disk>"
                    "<disk><target dev='sdc' bus='sata'/></disk>"
                    "<disk><target dev='sdd' bus='sata'/></disk>"
                    "<disk><target dev='sde' bus='sata'/></disk>"
                    "<disk><target dev='sdf' bus='sata'/></disk>",
                    DOMAIN_BUS_SATA, (struct drive_position){true, false, {1, 0, 0, 5}},
                    "sdg");
}

static void
takes_the_last_free_position_of_ide(void **state)
{
    (void)state;
    assert_position("", DOMAIN_BUS_IDE,
                    (struct drive_position){true, false, {0, 1, 0, 1}}, "hdd");
    assert_position("<disk><target dev='hdd' bus='ide'/></disk>", DOMAIN_BUS_IDE,
                    (struct drive_position){true, false, {0, 1, 0, 0}}, "hdc");
    assert_position("<disk><target dev='hdd' bus='ide'/><address type='drive'/></disk>",
                    DOMAIN_BUS_IDE, (struct drive_position){true, false, {0, 1, 0, 1}},
                    "hde");
}

static void
says_when_ide_is_full(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    (void)state;
    assert_null(
        add_disk(&unit,
                 "<disk><target dev='hda'/></disk><disk><target dev='hdb'/></disk>"
                 "<disk><target dev='hdc'/></disk><disk><target dev='hdd'/></disk>",
                 DOMAIN_BUS_IDE, &failure));
    assert_failure(&failure, FAILURE_BUS);
}

static void
leaves_the_place_to_libvirt_where_there_are_no_drive_addresses(void **state)
{
    const struct drive_position none = {0};

    (void)state;
    assert_position("<disk><target dev='vda' bus='virtio'/></disk>", DOMAIN_BUS_VIRTIO,
                    none, "vdb");
    assert_position("<disk><target dev='sda' bus='scsi'/></disk>", DOMAIN_BUS_USB, none,
                    "sdb");
}

/* Names are one row for all buses: the guest's order of cdroms is theirs. */
static void
names_it_behind_all_others(void **state)
{
    (void)state;
    assert_position(VIRTIO_SCSI "<disk><target dev='sdz' bus='sata'/></disk>"
                                "<disk><target dev='vdq' bus='virtio'/></disk>",
                    DOMAIN_BUS_SCSI, (struct drive_position){true, false, {0, 0, 1, 0}},
                    "sdaa");
}

/* Asserts whether the controller of that index, if it is ours, goes with the disk. */
static void
assert_controller_is_removed(int index, bool expected)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_free char *xml =
        xasprintf("<domain type='kvm'><name>x</name><devices>"
                  "<disk><target dev='sdh' bus='scsi'/></disk>"
                  "<disk><target dev='sda' bus='sata'/></disk>"
                  "<hostdev type='usb'><address type='usb'/></hostdev>"
                  "<hostdev type='scsi'/>"
                  "<hostdev type='scsi'><address type='drive' controller='3'/></hostdev>"
                  "<controller type='scsi' index='%d'><alias name='ua-virt-seed-scsi'/>"
                  "</controller></devices></domain>",
                  index);

    unit_domain_read(&unit, xml);
    wire_remove_disk(&unit.domain, &wiring);
    assert_int_equal(wiring.change_count, expected);
    assert_int_equal(wire_find_controller(&unit.domain, "ua-virt-seed-scsi") == NULL,
                     expected);
}

static void
removes_its_controller_unless_a_device_is_on_it(void **state)
{
    (void)state;
    assert_controller_is_removed(0, true);
    assert_controller_is_removed(1, false);
    assert_controller_is_removed(3, false);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_a_controller_where_there_is_no_virtio_scsi),
        cmocka_unit_test(adds_a_controller_beyond_those_that_addresses_imply),
        cmocka_unit_test(takes_a_free_target_of_virtio_scsi),
        cmocka_unit_test(goes_on_to_the_next_controller_where_one_is_full),
        cmocka_unit_test(finds_a_place_among_as_many_devices_as_there_may_be),
        cmocka_unit_test(finds_the_virtio_scsi_controller_among_others),
        cmocka_unit_test(takes_the_last_free_port_of_sata),
        cmocka_unit_test(takes_the_last_free_position_of_ide),
        cmocka_unit_test(says_when_ide_is_full),
        cmocka_unit_test(leaves_the_place_to_libvirt_where_there_are_no_drive_addresses),
        cmocka_unit_test(names_it_behind_all_others),
        cmocka_unit_test(removes_its_controller_unless_a_device_is_on_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
