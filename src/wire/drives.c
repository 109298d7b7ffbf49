/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "domain/target.h"
#include "domain/xml.h"
#include "wire/drives.h"

/* libvirt's bounds: a scsi target of virtio-scsi, ports of an AHCI controller. */
#define SCSI_TARGET_MAX 255
#define SATA_UNITS 6

static bool
is_virtio_scsi(const xmlNode *controller)
{
    return xml_attribute_is(controller, "model", "virtio-scsi") ||
           xml_attribute_is(controller, "model", "virtio-transitional") ||
           xml_attribute_is(controller, "model", "virtio-non-transitional");
}

static xmlNode *
next_scsi_controller(xmlNode *node)
{
    while (node && !xml_attribute_is(node, "type", "scsi"))
        node = xml_next(node, "controller");
    return node;
}

static xmlNode *
first_scsi_controller(const struct domain *domain)
{
    return next_scsi_controller(
        xml_child(xml_child(domain->root, "devices"), "controller"));
}

/* --- what is taken ---------------------------------------------------------------- */

/* The addresses on one bus. */
struct addresses {
    struct drive_address *list;
    size_t count;
};

static void
addresses_clear(struct addresses *addresses)
{
    free(addresses->list);
}

#define cleanup_addresses __attribute__((cleanup(addresses_clear)))

static void
addresses_add(struct addresses *addresses, const struct drive_address *address)
{
    *array_add(addresses->list, addresses->count) = *address;
}

/* Host devices of scsi share the addresses of scsi disks. */
static void
add_hostdevs(struct addresses *addresses, const struct domain *domain)
{
    const xmlNode *devices = xml_child(domain->root, "devices");

    for (const xmlNode *node = xml_child(devices, "hostdev"); node;
         node = xml_next(node, "hostdev")) {
        const xmlNode *written = xml_child(node, "address");
        struct drive_address address;

        if (!xml_attribute_is(node, "type", "scsi") || !written)
            continue;
        address = target_address(DOMAIN_BUS_SCSI, "", written);
        addresses_add(addresses, &address);
    }
}

static struct addresses
read_addresses(const struct domain *domain, enum domain_bus bus)
{
    struct addresses addresses = {0};

    for (size_t i = 0; i < domain->disk_count; i++) {
        if (domain->disks[i].bus == bus)
            addresses_add(&addresses, &domain->disks[i].address);
    }
    if (bus == DOMAIN_BUS_SCSI)
        add_hostdevs(&addresses, domain);
    return addresses;
}

bool
drives_controller_is_used(const struct domain *domain, enum domain_bus bus,
                          long controller)
{
    cleanup_addresses struct addresses addresses = read_addresses(domain, bus);

    for (size_t i = 0; i < addresses.count; i++) {
        if (addresses.list[i].controller == controller)
            return true;
    }
    return false;
}

/* --- places ----------------------------------------------------------------------- */

/* Return: the highest controller that is there or that an address implies, or -1. */
static long
highest_scsi_controller(const struct domain *domain, const struct addresses *addresses)
{
    long highest = -1;

    for (xmlNode *node = first_scsi_controller(domain); node;
         node = next_scsi_controller(xml_next(node, "controller"))) {
        long index = xml_attribute_number(node, "index", 65535);

        /* Without an index libvirt takes the next free one. */
        if (index < 0)
            highest++;
        else if (index > highest)
            highest = index;
    }
    for (size_t i = 0; i < addresses->count; i++) {
        if (addresses->list[i].controller > highest)
            highest = addresses->list[i].controller;
    }
    return highest;
}

/* Return: the first target of the controller that is free, or -1; from 1 on: target 0 is
 * where libvirt puts disks by their names. */
static long
free_scsi_target(const struct addresses *addresses, long controller)
{
    bool taken[SCSI_TARGET_MAX + 1] = {false};

    for (size_t i = 0; i < addresses->count; i++) {
        const struct drive_address *address = &addresses->list[i];

        if (address->controller == controller && address->target <= SCSI_TARGET_MAX)
            taken[address->target] = true;
    }
    for (long target = 1; target <= SCSI_TARGET_MAX; target++) {
        if (!taken[target])
            return target;
    }
    return -1;
}

static void
find_scsi_place(const struct domain *domain, struct drive_place *place)
{
    cleanup_addresses struct addresses addresses =
        read_addresses(domain, DOMAIN_BUS_SCSI);

    for (xmlNode *node = first_scsi_controller(domain); node;
         node = next_scsi_controller(xml_next(node, "controller"))) {
        place->address.controller = xml_attribute_number(node, "index", 65535);
        if (place->address.controller < 0 || !is_virtio_scsi(node))
            continue;
        place->address.target = free_scsi_target(&addresses, place->address.controller);
        if (place->address.target > 0)
            return;
    }
    place->new_controller = true;
    place->address.controller = highest_scsi_controller(domain, &addresses) + 1;
    place->address.target = 1;
}

static bool
is_taken(const struct domain *domain, enum domain_bus bus,
         const struct drive_address *address)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct drive_address *other = &domain->disks[i].address;

        if (domain->disks[i].bus == bus && other->controller == address->controller &&
            (bus == DOMAIN_BUS_SATA || other->bus == address->bus) &&
            other->unit == address->unit)
            return true;
    }
    return false;
}

/* From the last port down; libvirt adds the controllers that an address needs. */
static void
find_sata_place(const struct domain *domain, struct drive_place *place)
{
    for (;; place->address.controller++) {
        for (long unit = SATA_UNITS - 1; unit >= 0; unit--) {
            place->address.unit = unit;
            if (!is_taken(domain, DOMAIN_BUS_SATA, &place->address))
                return;
        }
    }
}

static int
find_ide_place(const struct domain *domain, struct drive_place *place,
               struct failure **failure)
{
    for (long position = 3; position >= 0; position--) {
        place->address.bus = position / 2;
        place->address.unit = position % 2;
        if (!is_taken(domain, DOMAIN_BUS_IDE, &place->address))
            return 0;
    }
    return failure_set(failure, FAILURE_BUS,
                       "all four positions of the IDE controller are taken\n"
                       "free one, or choose another bus: bus=\"scsi\"");
}

int
drives_find_place(const struct domain *domain, enum domain_bus bus,
                  struct drive_place *place, struct failure **failure)
{
    *place = (struct drive_place){.addressed = true};
    switch (bus) {
    case DOMAIN_BUS_SCSI:
        find_scsi_place(domain, place);
        return 0;
    case DOMAIN_BUS_SATA:
        find_sata_place(domain, place);
        return 0;
    case DOMAIN_BUS_IDE:
        return find_ide_place(domain, place, failure);
    case DOMAIN_BUS_VIRTIO:
    case DOMAIN_BUS_USB:
    case DOMAIN_BUS_OTHER:
        break;
    }
    place->addressed = false;
    return 0;
}

/* --- names ------------------------------------------------------------------------ */

static bool
target_is_taken(const struct domain *domain, const char *target)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        if (strcmp(domain->disks[i].target, target) == 0)
            return true;
    }
    return false;
}

char *
drives_free_target(const struct domain *domain, enum domain_bus bus,
                   const struct drive_address *address)
{
    const char *prefix = target_prefix(bus);
    long highest = -1;

    /* On IDE names and positions go together. */
    if (bus == DOMAIN_BUS_IDE) {
        cleanup_free char *name = target_name(prefix, address->bus * 2 + address->unit);

        if (!target_is_taken(domain, name))
            return steal(name);
    }
    for (size_t i = 0; i < domain->disk_count; i++) {
        const char *target = domain->disks[i].target;

        if (strncmp(target, prefix, strlen(prefix)) == 0 &&
            target_index(target) > highest)
            highest = target_index(target);
    }
    return target_name(prefix, highest + 1);
}
