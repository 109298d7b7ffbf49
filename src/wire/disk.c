/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the bus is one whose driver the guest's kernel surely has, judged by
 * the root disk. The position on it is written out as an address, because a disk
 * without one gets from libvirt the position that its target's name counts to, and a
 * scsi disk then perhaps a controller (lsilogic) that the kernels of cloud images lack.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "domain/domain.h"
#include "domain/target.h"
#include "domain/xml.h"
#include "wire/disk.h"
#include "wire/drives.h"
#include "wire/foreign.h"

#define CONTROLLER_ALIAS "ua-virt-seed-scsi"

/* --- the bus ---------------------------------------------------------------------- */

/* Return: the disk that the guest boots from: the lowest boot order, else the first
 * disk. */
static const struct disk *
root_disk(const struct domain *domain)
{
    const struct disk *root = NULL;

    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (strcmp(disk->device, "disk") != 0 && strcmp(disk->device, "lun") != 0)
            continue;
        if (!root || (disk->boot_order &&
                      (!root->boot_order || disk->boot_order < root->boot_order)))
            root = disk;
    }
    return root;
}

bool
wire_disk_has_ide(const struct domain *domain)
{
    if (domain->arch && strcmp(domain->arch, "x86_64") != 0 &&
        strcmp(domain->arch, "i686") != 0)
        return false;
    return !domain->machine ||
           (!strstr(domain->machine, "q35") && !strstr(domain->machine, "microvm"));
}

static enum domain_bus
choose_bus(const struct domain *domain, const struct request *request)
{
    const struct disk *root = root_disk(domain);

    if (request->bus != DOMAIN_BUS_OTHER)
        return request->bus;
    if (domain_is_windows(domain))
        return DOMAIN_BUS_SATA;
    if (root && (root->bus == DOMAIN_BUS_SATA || root->bus == DOMAIN_BUS_IDE))
        return root->bus;
    return DOMAIN_BUS_SCSI;
}

static int
check_bus(const struct domain *domain, enum domain_bus bus, struct failure **failure)
{
    if (bus != DOMAIN_BUS_IDE || wire_disk_has_ide(domain))
        return 0;
    return failure_set(failure, FAILURE_BUS,
                       "bus=\"ide\" does not exist on machine '%s'\n"
                       "leave bus= away, or use \"scsi\"",
                       domain->machine ? domain->machine : domain->arch);
}

/* --- the element ------------------------------------------------------------------ */

static void
set_number(xmlNode *node, const char *name, long value)
{
    cleanup_free char *text = xasprintf("%ld", value);

    xml_set_attribute(node, name, text);
}

static void
write_address(xmlNode *disk, const struct drive_address *address)
{
    xmlNode *node = xml_add_child(disk, "address");

    xml_set_attribute(node, "type", "drive");
    set_number(node, "controller", address->controller);
    set_number(node, "bus", address->bus);
    set_number(node, "target", address->target);
    set_number(node, "unit", address->unit);
}

static void
write_disk(xmlNode *disk, enum domain_bus bus, const char *path, const char *target)
{
    xmlNode *node;

    xml_set_attribute(disk, "type", "file");
    xml_set_attribute(disk, "device", bus == DOMAIN_BUS_VIRTIO ? "disk" : "cdrom");
    node = xml_add_child(disk, "driver");
    xml_set_attribute(node, "name", "qemu");
    xml_set_attribute(node, "type", "raw");
    node = xml_add_child(disk, "source");
    xml_set_attribute(node, "file", path);
    /* Every other policy resumes a saved guest with an empty drive, and says nothing. A
     * disk that is no cdrom has no drive to be empty. */
    if (bus != DOMAIN_BUS_VIRTIO)
        xml_set_attribute(node, "startupPolicy", "mandatory");
    node = xml_add_child(disk, "target");
    xml_set_attribute(node, "dev", target);
    xml_set_attribute(node, "bus", domain_bus_name(bus));
    xml_add_child(disk, "readonly");
    node = xml_add_child(disk, "alias");
    xml_set_attribute(node, "name", SEED_DISK_ALIAS);
}

/* Behind the last disk: a cdrom in front of another would take its place in the boot
 * order that <boot dev='cdrom'/> means. */
static xmlNode *
add_disk_element(xmlNode *devices)
{
    xmlNode *last = NULL;

    for (xmlNode *node = xml_child(devices, "disk"); node; node = xml_next(node, "disk"))
        last = node;
    if (!last)
        last = xml_child(devices, "emulator");
    return last ? xml_add_after(last, "disk") : xml_add_child(devices, "disk");
}

static void
add_controller(xmlNode *disk, long index, struct wiring *wiring)
{
    xmlNode *node = xml_add_after(disk, "controller");

    xml_set_attribute(node, "type", "scsi");
    set_number(node, "index", index);
    xml_set_attribute(node, "model", "virtio-scsi");
    xml_set_attribute(xml_add_child(node, "alias"), "name", CONTROLLER_ALIAS);
    wiring_note(wiring, "virtio-scsi controller %ld added", index);
}

static int
add_disk(struct domain *domain, const struct request *request, const char *path,
         struct wiring *wiring, struct failure **failure)
{
    enum domain_bus bus = choose_bus(domain, request);
    struct drive_place place;
    cleanup_free char *target = NULL;
    xmlNode *devices = xml_child(domain->root, "devices");
    xmlNode *disk;

    if (check_bus(domain, bus, failure) < 0 ||
        drives_find_place(domain, bus, &place, failure) < 0)
        return -1;
    target = drives_free_target(domain, bus, &place.address);
    if (!devices)
        devices = xml_add_child(domain->root, "devices");
    disk = add_disk_element(devices);
    write_disk(disk, bus, path, target);
    if (place.addressed)
        write_address(disk, &place.address);
    wiring_note(wiring, "%s '%s' added on the %s bus",
                bus == DOMAIN_BUS_VIRTIO ? "read-only disk" : "cdrom", target,
                domain_bus_name(bus));
    if (place.new_controller)
        add_controller(disk, place.address.controller, wiring);
    return 0;
}

/* --- what is there ---------------------------------------------------------------- */

static void
remove_controller(struct domain *domain, struct wiring *wiring)
{
    xmlNode *node = xml_child(xml_child(domain->root, "devices"), "controller");

    for (; node; node = xml_next(node, "controller")) {
        const xmlNode *alias = xml_child(node, "alias");
        long index = xml_attribute_number(node, "index", 65535);

        if (!alias || !xml_attribute_is(alias, "name", CONTROLLER_ALIAS))
            continue;
        if (drives_controller_is_used(domain, DOMAIN_BUS_SCSI, index))
            return;
        xml_remove(node);
        wiring_note(wiring, "virtio-scsi controller %ld removed", index);
        return;
    }
}

int
wire_remove_foreign(struct domain *domain, const struct wire_options *options,
                    struct wiring *wiring, struct failure **failure)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (!foreign_is_seed(disk))
            continue;
        if (!options->replace)
            return foreign_fail(disk, failure);
        wiring_note(wiring, "foreign seed '%s' (%s) removed", disk->target, disk->source);
        domain_remove_disk(domain, i);
        i--;
    }
    return 0;
}

/* Lets the first of our disks be this domain's and removes any other.
 * Return: whether there is one. */
static bool
mend_disk(struct domain *domain, const struct request *request, const char *path,
          struct wiring *wiring)
{
    bool found = false;

    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (!disk->source || !seed_path_is(disk->source))
            continue;
        if (found || !xml_attribute_is(disk->node, "type", "file") ||
            (request->bus != DOMAIN_BUS_OTHER && request->bus != disk->bus)) {
            wiring_note(wiring, "seed's disk '%s' on the %s bus removed", disk->target,
                        domain_bus_name(disk->bus));
            domain_remove_disk(domain, i);
            i--;
            remove_controller(domain, wiring);
            continue;
        }
        found = true;
        if (!xml_child(disk->node, "readonly") && strcmp(disk->device, "cdrom") != 0) {
            xml_add_child(disk->node, "readonly");
            wiring_note(wiring, "'%s' made read-only", disk->target);
        }
        if (strcmp(disk->source, path) == 0)
            continue;
        xml_set_attribute(xml_child(disk->node, "source"), "file", path);
        wiring_note(wiring, "'%s' had another domain's seed and has this one's now",
                    disk->target);
    }
    return found;
}

int
wire_disk(struct domain *domain, const struct request *request,
          const struct wire_options *options, struct wiring *wiring,
          struct failure **failure)
{
    cleanup_free char *path = seed_path(domain->uuid);

    if (wire_remove_foreign(domain, options, wiring, failure) < 0)
        return -1;
    if (mend_disk(domain, request, path, wiring))
        return 0;
    return add_disk(domain, request, path, wiring, failure);
}

/* --- removing --------------------------------------------------------------------- */

void
wire_remove_disk(struct domain *domain, struct wiring *wiring)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (!disk->source || !seed_path_is(disk->source))
            continue;
        wiring_note(wiring, "seed's disk '%s' removed", disk->target);
        domain_remove_disk(domain, i);
        i--;
    }
    remove_controller(domain, wiring);
}

int
wire_no_disk(struct domain *domain, const struct wire_options *options,
             struct wiring *wiring, struct failure **failure)
{
    if (wire_remove_foreign(domain, options, wiring, failure) < 0)
        return -1;
    wire_remove_disk(domain, wiring);
    return 0;
}
