/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed's disk, and those of other tools.
 *
 * How it works: the root disk tells which bus the guest's kernel is sure to have a driver
 * for. The disk's position is written as an address. Without one, libvirt would derive
 * the position from the target's name, and might add an lsilogic controller for a scsi
 * disk, for which the kernels of cloud images have no driver. The position must be free,
 * and not one that libvirt derives from the names of other disks.
 */
#include "config.h"

#include <fnmatch.h>

#include "base/fs.h"
#include "base/names.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "host/datasource.h"
#include "wire/parts.h"

#define CONTROLLER_ALIAS "ua-virt-seed-scsi"
/* libvirt's limits: targets of virtio-scsi, ports of an AHCI controller. */
#define SCSI_TARGET_MAX 255
#define SATA_UNITS 6

/* --- other tools' seeds ------------------------------------------------------------ */

/* VDSM's payload (lib/vdsm/mkimage.py), after and before VDSM has filled in the path. */
static const char *const payloads[] = {"/run/vdsm/payload/*", "/var/run/vdsm/payload/*",
                                       "PAYLOAD:*"};

/* Those of virt-install ("virtinst-…-cloudinit.iso"), of KubeVirt, Nova and Proxmox, and of
 * the examples of cloud-localds and of Terraform's provider. */
static const char *const names[] = {
    "*cidata*",       "*cloudinit*.iso", "*cloud?init*.iso", "*commoninit*.iso",
    "seed",           "*-seed",          "seed.iso",         "*-seed.iso",
    "seed.img",       "*-seed.img",      "seed.qcow2",       "*-seed.qcow2",
    "noCloud.iso",    "configdrive.iso", "disk.config",      "*_disk.config",
    "vm-*-cloudinit*"};

static bool
matches(const char *const *patterns, size_t count, const char *text, int flags)
{
    for (size_t i = 0; i < count; i++) {
        if (fnmatch(patterns[i], text, flags) == 0)
            return true;
    }
    return false;
}

const char *
foreign_seed_reason(const struct disk *disk)
{
    /* The hook cannot ask libvirt for the volumes of storage pools. What it would refuse,
     * commands refuse, too, whatever they know of the label. */
    const bool counts_by_name = !disk->label || disk->is_volume;

    if (!disk->name || seed_path_is(disk->source))
        return NULL;
    if (matches(payloads, ARRAY_SIZE(payloads), disk->name, 0))
        return "is in VDSM's directory for payloads";
    if (disk->label == NEED_WORD_LABEL_OF_SEED)
        return "has the label of a seed";
    /* The image that a guest boots from is often called after cloud-init, too. */
    if (counts_by_name && !disk->is_root &&
        matches(names, ARRAY_SIZE(names), fs_base_name(disk->name), FNM_CASEFOLD))
        return "has the name of a seed";
    return NULL;
}

int
wire_remove_foreign(struct domain *domain, const struct wire_options *options,
                    struct wiring *wiring, struct failure **failure)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];
        const char *reason = foreign_seed_reason(disk);

        if (!reason)
            continue;
        if (!options->replace) {
            failure_set_at(failure, FAILURE_FOREIGN_SEED, xml_line(disk->node),
                           "disk '%s' (%s) is another tool's seed: it %s", disk->target,
                           disk->name, reason);
            if (options->foreign_hint)
                return failure_hint(failure, "%s", options->foreign_hint);
            return failure_hint(failure,
                                "a guest can have only one seed: detach the disk, or "
                                "replace it with 'virt-seed wire --replace'");
        }
        wiring_note(wiring, "foreign seed '%s' (%s) removed", disk->target, disk->name);
        domain_remove_disk(domain, i);
        i--;
    }
    return 0;
}

/* --- the bus ---------------------------------------------------------------------- */

static bool
has_ide(const struct domain *domain)
{
    if (domain->arch && strcmp(domain->arch, "x86_64") != 0 &&
        strcmp(domain->arch, "i686") != 0)
        return false;
    return !domain->machine ||
           (!strstr(domain->machine, "q35") && !strstr(domain->machine, "microvm"));
}

/* Return: the requested bus, or that of the root disk if it is sata or ide. */
static enum domain_bus
choose_bus(const struct domain *domain, const struct request *request)
{
    if (request->bus != DOMAIN_BUS_OTHER)
        return request->bus;
    if (domain_is_windows(domain))
        return DOMAIN_BUS_SATA;
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (disk->is_root &&
            (disk->bus == DOMAIN_BUS_SATA || disk->bus == DOMAIN_BUS_IDE))
            return disk->bus;
    }
    return DOMAIN_BUS_SCSI;
}

/* --- the position on the bus ---------------------------------------------------------- */

struct drive_position {
    bool new_controller;
    struct drive_address address; /* of -1 alone if libvirt chooses the position */
};

/* Return: the `count` addresses in use on the scsi bus, owned by the caller (free). */
static struct drive_address *
read_scsi_addresses(const struct domain *domain, size_t *count)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    struct drive_address *list = NULL;

    *count = 0;
    for (size_t i = 0; i < domain->disk_count; i++) {
        if (domain->disks[i].bus == DOMAIN_BUS_SCSI)
            *array_add(list, *count) = domain->disks[i].address;
    }
    /* scsi host devices use the same addresses. */
    xml_foreach(node, devices, "hostdev") {
        const xmlNode *written = xml_child(node, "address");

        if (xml_attribute_is(node, "type", "scsi") && written)
            *array_add(list, *count) = target_address(DOMAIN_BUS_SCSI, "", written);
    }
    return list;
}

/* Return: the controller's first free target, or -1. Target 0 is for disks that libvirt
 * places by their names. */
static long
free_scsi_target(const struct drive_address *list, size_t count, long controller)
{
    bool taken[SCSI_TARGET_MAX + 1] = {false};

    for (size_t i = 0; i < count; i++) {
        const struct drive_address *address = &list[i];

        if (address->controller == controller && address->target <= SCSI_TARGET_MAX)
            taken[address->target] = true;
    }
    for (long target = 1; target <= SCSI_TARGET_MAX; target++) {
        if (!taken[target])
            return target;
    }
    return -1;
}

static bool
is_virtio_scsi(const xmlNode *node)
{
    return xml_attribute_is(node, "model", "virtio-scsi") ||
           xml_attribute_is(node, "model", "virtio-transitional") ||
           xml_attribute_is(node, "model", "virtio-non-transitional");
}

static void
find_scsi_position(const struct domain *domain, struct drive_position *position)
{
    size_t count;
    cleanup_free struct drive_address *list = read_scsi_addresses(domain, &count);
    long highest = -1; /* of the controllers that exist or that an address implies */

    xml_foreach(node, xml_child(domain->root, "devices"), "controller") {
        long index = xml_attribute_number(node, "index", 65535);

        if (!xml_attribute_is(node, "type", "scsi"))
            continue;
        /* Without an index, libvirt uses the next free one. */
        if (index < 0)
            highest++;
        else if (index > highest)
            highest = index;
        if (index < 0 || !is_virtio_scsi(node))
            continue;
        position->address.controller = index;
        position->address.target = free_scsi_target(list, count, index);
        if (position->address.target > 0)
            return;
    }
    for (size_t i = 0; i < count; i++) {
        if (list[i].controller > highest)
            highest = list[i].controller;
    }
    position->new_controller = true;
    position->address.controller = highest + 1;
    position->address.target = 1;
}

static bool
is_taken(const struct domain *domain, enum domain_bus bus,
         const struct drive_address *address)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct drive_address *other = &domain->disks[i].address;

        if (domain->disks[i].bus != bus || other->controller != address->controller)
            continue;
        /* A sata controller has one bus. */
        if (bus != DOMAIN_BUS_SATA && other->bus != address->bus)
            continue;
        if (other->unit == address->unit)
            return true;
    }
    return false;
}

/* Finds a free position. On scsi it is on a virtio-scsi controller, existing or new. */
static int
find_position(const struct domain *domain, enum domain_bus bus,
              struct drive_position *position, struct failure **failure)
{
    struct drive_address *address = &position->address;

    *position = (struct drive_position){.address = target_address(bus, "", NULL)};
    switch (bus) {
    case DOMAIN_BUS_SCSI:
        find_scsi_position(domain, position);
        return 0;
    case DOMAIN_BUS_SATA:
        /* From the last port down; libvirt adds a controller if an address needs one. */
        for (;; address->controller++) {
            for (address->unit = SATA_UNITS - 1; address->unit >= 0; address->unit--) {
                if (!is_taken(domain, bus, address))
                    return 0;
            }
        }
    case DOMAIN_BUS_IDE:
        for (long number = 3; number >= 0; number--) {
            address->bus = number / 2;
            address->unit = number % 2;
            if (!is_taken(domain, bus, address))
                return 0;
        }
        return failure_set(failure, FAILURE_BUS,
                           "all four positions on the IDE controller are in use\n"
                           "remove a disk, or use another bus: bus=\"scsi\"");
    case DOMAIN_BUS_VIRTIO:
    case DOMAIN_BUS_USB:
    case DOMAIN_BUS_OTHER:
        break;
    }
    return 0;
}

/* Return: an unused target name, after all others so that libvirt keeps the order of the
 * cdroms; owned by the caller (free). */
static char *
find_target(const struct domain *domain, enum domain_bus bus,
            const struct drive_address *address)
{
    const char *prefix = target_prefix(bus);
    cleanup_free char *by_position =
        target_name(prefix, address->bus * 2 + address->unit);
    bool by_position_is_free =
        bus == DOMAIN_BUS_IDE; /* names and positions go together */
    long highest = -1;

    for (size_t i = 0; i < domain->disk_count; i++) {
        const char *target = domain->disks[i].target;

        if (strcmp(target, by_position) == 0)
            by_position_is_free = false;
        if (strncmp(target, prefix, strlen(prefix)) == 0 &&
            target_index(target) > highest)
            highest = target_index(target);
    }
    return by_position_is_free ? steal(by_position) : target_name(prefix, highest + 1);
}

/* --- the element ------------------------------------------------------------------ */

static void
set_number(xmlNode *node, const char *name, long value)
{
    cleanup_free char *text = xasprintf("%ld", value);

    xml_set_attribute(node, name, text);
}

static void
write_disk(xmlNode *disk, enum domain_bus bus, const char *path, const char *target,
           const struct drive_position *position)
{
    xmlNode *node;

    xml_set_attribute(disk, "type", "file");
    xml_set_attribute(disk, "device", bus == DOMAIN_BUS_VIRTIO ? "disk" : "cdrom");
    node = xml_add_child(disk, "driver");
    xml_set_attribute(node, "name", "qemu");
    xml_set_attribute(node, "type", "raw");
    node = xml_add_child(disk, "source");
    xml_set_attribute(node, "file", path);
    /* With any other policy, libvirt silently resumes a saved guest with an empty drive.
     * Only a cdrom can be empty. */
    if (bus != DOMAIN_BUS_VIRTIO)
        xml_set_attribute(node, "startupPolicy", "mandatory");
    node = xml_add_child(disk, "target");
    xml_set_attribute(node, "dev", target);
    xml_set_attribute(node, "bus", domain_bus_name(bus));
    xml_add_child(disk, "readonly");
    node = xml_add_child(disk, "alias");
    xml_set_attribute(node, "name", SEED_DISK_ALIAS);
    if (position->address.controller < 0)
        return;
    node = xml_add_child(disk, "address");
    xml_set_attribute(node, "type", "drive");
    set_number(node, "controller", position->address.controller);
    set_number(node, "bus", position->address.bus);
    set_number(node, "target", position->address.target);
    set_number(node, "unit", position->address.unit);
}

static int
add_disk(struct domain *domain, const struct request *request, const char *path,
         struct wiring *wiring, struct failure **failure)
{
    enum domain_bus bus = choose_bus(domain, request);
    struct drive_position position;
    cleanup_free char *target = NULL;
    xmlNode *disk, *controller;

    if (bus == DOMAIN_BUS_IDE && !has_ide(domain))
        return failure_set(failure, FAILURE_BUS,
                           "machine '%s' has no bus \"ide\"\n"
                           "omit bus=, or use \"scsi\"",
                           domain->machine ? domain->machine : domain->arch);
    if (find_position(domain, bus, &position, failure) < 0)
        return -1;
    target = find_target(domain, bus, &position.address);
    /* After the last disk: <boot dev='cdrom'/> boots from the first cdrom. */
    disk = wire_add_device(domain, "disk", "emulator");
    write_disk(disk, bus, path, target, &position);
    wiring_note(wiring, "%s '%s' added on the %s bus",
                bus == DOMAIN_BUS_VIRTIO ? "read-only disk" : "cdrom", target,
                domain_bus_name(bus));
    if (!position.new_controller)
        return 0;
    controller = xml_add_after(disk, "controller");
    xml_set_attribute(controller, "type", "scsi");
    set_number(controller, "index", position.address.controller);
    xml_set_attribute(controller, "model", "virtio-scsi");
    xml_set_attribute(xml_add_child(controller, "alias"), "name", CONTROLLER_ALIAS);
    wire_place_controller(domain, controller);
    wiring_note(wiring, "virtio-scsi controller %ld added", position.address.controller);
    return 0;
}

/* --- repairing and removing ------------------------------------------------------- */

/* Removes our controller unless a disk or host device is on it. */
static void
remove_controller(struct domain *domain, struct wiring *wiring)
{
    xmlNode *controller = wire_find_controller(domain, CONTROLLER_ALIAS);
    cleanup_free struct drive_address *list = NULL;
    size_t count;
    long index;

    if (!controller)
        return;
    index = xml_attribute_number(controller, "index", 65535);
    list = read_scsi_addresses(domain, &count);
    for (size_t i = 0; i < count; i++) {
        if (list[i].controller == index)
            return;
    }
    xml_remove(controller);
    wiring_note(wiring, "virtio-scsi controller %ld removed", index);
}

int
wire_disk(struct domain *domain, const struct request *request, struct wiring *wiring,
          struct failure **failure)
{
    cleanup_free char *path = seed_path(domain->uuid);
    bool found = false;

    if (request->datasource->over_http) {
        wire_remove_disk(domain, wiring);
        return 0;
    }
    /* The first of our disks becomes this domain's, the others are removed. */
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];
        bool fits;

        if (!seed_path_is(disk->source))
            continue;
        fits = request->bus == DOMAIN_BUS_OTHER || request->bus == disk->bus;
        if (found || !fits || !xml_attribute_is(disk->node, "type", "file")) {
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
        if (seed_path_is_elsewhere(disk->source))
            wiring_note(wiring, "'%s' changed from %s to this domain's seed %s",
                        disk->target, disk->source, scope()->place);
        else
            wiring_note(wiring, "'%s' changed from another domain's seed to this one's",
                        disk->target);
        xml_set_attribute(xml_child(disk->node, "source"), "file", path);
    }
    return found ? 0 : add_disk(domain, request, path, wiring, failure);
}

void
wire_remove_disk(struct domain *domain, struct wiring *wiring)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (!seed_path_is(disk->source))
            continue;
        wiring_note(wiring, "seed's disk '%s' removed", disk->target);
        domain_remove_disk(domain, i);
        i--;
    }
    remove_controller(domain, wiring);
}
