/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/drives.h"
#include "domain/target.h"
#include "domain/xml.h"

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

static bool
same_position(enum domain_bus bus, const struct drive_address *one,
              const struct drive_address *other)
{
    if (one->controller != other->controller)
        return false;
    switch (bus) {
    case DOMAIN_BUS_SATA:
        return one->unit == other->unit;
    case DOMAIN_BUS_SCSI:
        return one->target == other->target;
    case DOMAIN_BUS_IDE:
    case DOMAIN_BUS_VIRTIO:
    case DOMAIN_BUS_USB:
    case DOMAIN_BUS_OTHER:
        break;
    }
    return one->bus == other->bus && one->unit == other->unit;
}

/* Host devices of scsi share the addresses of scsi disks. Return: the next one's
 * address. */
static bool
next_hostdev(xmlNode **node, struct drive_address *address)
{
    for (; *node; *node = xml_next(*node, "hostdev")) {
        const xmlNode *found = xml_child(*node, "address");

        if (!xml_attribute_is(*node, "type", "scsi") || !found)
            continue;
        *address = target_address(DOMAIN_BUS_SCSI, "", found);
        *node = xml_next(*node, "hostdev");
        return true;
    }
    return false;
}

static bool
is_taken(const struct domain *domain, enum domain_bus bus,
         const struct drive_address *address)
{
    xmlNode *hostdev = xml_child(xml_child(domain->root, "devices"), "hostdev");
    struct drive_address other;

    for (size_t i = 0; i < domain->disk_count; i++) {
        if (domain->disks[i].bus == bus &&
            same_position(bus, &domain->disks[i].address, address))
            return true;
    }
    while (bus == DOMAIN_BUS_SCSI && next_hostdev(&hostdev, &other)) {
        if (same_position(bus, &other, address))
            return true;
    }
    return false;
}

bool
drives_controller_is_used(const struct domain *domain, enum domain_bus bus,
                          long controller)
{
    xmlNode *hostdev = xml_child(xml_child(domain->root, "devices"), "hostdev");
    struct drive_address other;

    for (size_t i = 0; i < domain->disk_count; i++) {
        if (domain->disks[i].bus == bus &&
            domain->disks[i].address.controller == controller)
            return true;
    }
    while (bus == DOMAIN_BUS_SCSI && next_hostdev(&hostdev, &other)) {
        if (other.controller == controller)
            return true;
    }
    return false;
}

/* --- places ----------------------------------------------------------------------- */

/* Return: the highest controller that is there or that an address implies, or -1. */
static long
highest_scsi_controller(const struct domain *domain)
{
    xmlNode *hostdev = xml_child(xml_child(domain->root, "devices"), "hostdev");
    struct drive_address other;
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
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (disk->bus == DOMAIN_BUS_SCSI && disk->address.controller > highest)
            highest = disk->address.controller;
    }
    while (next_hostdev(&hostdev, &other)) {
        if (other.controller > highest)
            highest = other.controller;
    }
    return highest;
}

/* Targets from 1 on: target 0 is where libvirt puts disks by their names. */
static void
find_scsi_place(const struct domain *domain, struct drive_place *place)
{
    for (xmlNode *node = first_scsi_controller(domain); node;
         node = next_scsi_controller(xml_next(node, "controller"))) {
        place->address.controller = xml_attribute_number(node, "index", 65535);
        if (place->address.controller < 0 || !is_virtio_scsi(node))
            continue;
        for (long target = 1; target <= SCSI_TARGET_MAX; target++) {
            place->address.target = target;
            if (!is_taken(domain, DOMAIN_BUS_SCSI, &place->address))
                return;
        }
    }
    place->new_controller = true;
    place->address.controller = highest_scsi_controller(domain) + 1;
    place->address.target = 1;
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
    failure_set(failure, FAILURE_BUS,
                "all four positions of the IDE controller are taken");
    return failure_hint(failure, "free one, or choose another bus: bus=\"scsi\"");
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
