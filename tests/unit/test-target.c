/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libvirt's names for disk targets and the addresses it derives from them:
 * domain/target.c. */
#include "config.h"

#include "base/memory.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "unit.h"

static void
counts_the_letters_as_libvirt_does(void **state)
{
    const struct {
        const char *target;
        long index;
    } cases[] = {
        {"sda", 0},   {"sdb", 1},    {"sdz", 25},    {"sdaa", 26}, {"sdaz", 51},
        {"sdba", 52}, {"sdzz", 701}, {"sdaaa", 702}, {"hda", 0},   {"vdc", 2},
        {"xvdd", 3},  {"fdb", 1},    {"ubda", 0},    {"sdb1", 1},  {"vda12", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(target_index(cases[i].target), cases[i].index);
}

static void
knows_what_is_no_target(void **state)
{
    const char *const names[] = {"",
                                 "sd",
                                 "sd1",
                                 "sdA",
                                 "sda-",
                                 "sda1b",
                                 "nvme",
                                 "SDA",
                                 "/dev",
                                 "sda 1",
                                 "xda",
                                 "cdrom",
                                 "sdzzzzzzzzzzzzzzzzzzzz"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_int_equal(target_index(names[i]), -1);
}

static void
makes_the_name_of_each_index(void **state)
{
    (void)state;
    for (long index = 0; index < 20000; index++) {
        cleanup_free char *name = target_name("sd", index);

        assert_int_equal(target_index(name), index);
    }
}

static void
knows_the_prefix_of_each_bus(void **state)
{
    (void)state;
    assert_string_equal(target_prefix(DOMAIN_BUS_VIRTIO), "vd");
    assert_string_equal(target_prefix(DOMAIN_BUS_IDE), "hd");
    assert_string_equal(target_prefix(DOMAIN_BUS_SCSI), "sd");
    assert_string_equal(target_prefix(DOMAIN_BUS_SATA), "sd");
    assert_string_equal(target_prefix(DOMAIN_BUS_USB), "sd");
}

static void
knows_the_bus_that_a_name_alone_means(void **state)
{
    (void)state;
    assert_int_equal(target_default_bus("hda"), DOMAIN_BUS_IDE);
    assert_int_equal(target_default_bus("sda"), DOMAIN_BUS_SCSI);
    assert_int_equal(target_default_bus("vda"), DOMAIN_BUS_VIRTIO);
    assert_int_equal(target_default_bus("fda"), DOMAIN_BUS_OTHER);
    assert_int_equal(target_default_bus("xvda"), DOMAIN_BUS_OTHER);
}

static void
assert_address(struct drive_address found, long controller, long bus, long target,
               long unit)
{
    assert_int_equal(found.controller, controller);
    assert_int_equal(found.bus, bus);
    assert_int_equal(found.target, target);
    assert_int_equal(found.unit, unit);
}

static void
derives_the_address_from_the_name(void **state)
{
    (void)state;
    assert_address(target_address(DOMAIN_BUS_SCSI, "sdg", NULL), 0, 0, 0, 6);
    assert_address(target_address(DOMAIN_BUS_SCSI, "sdh", NULL), 1, 0, 0, 0);
    assert_address(target_address(DOMAIN_BUS_SATA, "sdf", NULL), 0, 0, 0, 5);
    assert_address(target_address(DOMAIN_BUS_SATA, "sdg", NULL), 1, 0, 0, 0);
    assert_address(target_address(DOMAIN_BUS_IDE, "hdc", NULL), 0, 1, 0, 0);
    assert_address(target_address(DOMAIN_BUS_IDE, "hdf", NULL), 1, 0, 0, 1);
    assert_address(target_address(DOMAIN_BUS_VIRTIO, "vda", NULL), -1, -1, -1, -1);
    assert_address(target_address(DOMAIN_BUS_USB, "sda", NULL), -1, -1, -1, -1);
}

/* Return: the address that a disk "sdc" on scsi has with that <address>. */
static struct drive_address
written_address(const char *element)
{
    cleanup_xml xmlDoc *doc = unit_parse(element);

    return target_address(DOMAIN_BUS_SCSI, "sdc", xmlDocGetRootElement(doc));
}

static void
prefers_the_address_that_is_written(void **state)
{
    (void)state;
    assert_address(
        written_address("<address type='drive' controller='1' bus='0' target='3' "
                        "unit='4'/>"),
        1, 0, 3, 4);
    assert_address(written_address("<address type='drive' unit='5'/>"), 0, 0, 0, 5);
    assert_address(written_address("<address type='drive' unit='-1' target='x'/>"), 0, 0,
                   0, 0);
    assert_address(written_address("<address type='pci' slot='0x03'/>"), 0, 0, 0, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_letters_as_libvirt_does),
        cmocka_unit_test(knows_what_is_no_target),
        cmocka_unit_test(makes_the_name_of_each_index),
        cmocka_unit_test(knows_the_prefix_of_each_bus),
        cmocka_unit_test(knows_the_bus_that_a_name_alone_means),
        cmocka_unit_test(derives_the_address_from_the_name),
        cmocka_unit_test(prefers_the_address_that_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
