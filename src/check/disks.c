/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the guest's kernel sees the seed's disk, and in time. */
#include "config.h"

#include "check/check.h"
#include "domain/xml.h"

#define BUS_HINT "remove bus= and run 'virt-seed wire' again"

/* Return: whether the disk's controller is a virtio model. If the controller is not in the
 * XML, libvirt adds one of its default model. */
static bool
is_on_virtio_scsi(const struct domain *domain, const struct disk *disk)
{
    xml_foreach(node, xml_child(domain->root, "devices"), "controller") {
        cleanup_free char *model = xml_attribute(node, "model");

        if (xml_attribute_is(node, "type", "scsi") &&
            xml_attribute_number(node, "index", 65535) == disk->address.controller)
            return model && strncmp(model, "virtio-", strlen("virtio-")) == 0;
    }
    return false;
}

static void
check_bus(const struct check *check, const struct disk *disk)
{
    const struct domain *domain = check->domain;
    const int line = xml_line(disk->node);
    bool virtio = false;

    for (size_t i = 0; i < domain->disk_count; i++)
        virtio = virtio || (domain->disks[i].bus == DOMAIN_BUS_VIRTIO &&
                            strcmp(domain->disks[i].device, "disk") == 0);
    if (disk->bus == DOMAIN_BUS_USB)
        check_warn(check, WARNING_USB_CDROM, line, BUS_HINT,
                   "the seed is on the usb bus, which guests detect too late");
    if (disk->bus == DOMAIN_BUS_SATA && virtio && !domain_is_windows(domain))
        check_warn(check, WARNING_SATA_CDROM, line, BUS_HINT,
                   "the seed is on the sata bus, for which cloud image kernels have "
                   "no driver");
    if (disk->bus == DOMAIN_BUS_SCSI && !is_on_virtio_scsi(domain, disk))
        check_warn(
            check, WARNING_SCSI_CONTROLLER, line,
            "remove the seed's <disk> and run 'virt-seed wire' again",
            "the seed's scsi controller %ld is not virtio-scsi: cloud image kernels "
            "have no driver for other models",
            disk->address.controller);
}

/* With two seeds it would be a race which one the guest uses. */
static void
check_unseen(const struct check *check)
{
    const struct domain *domain = check->domain;

    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        /* Of an empty drive and of our own seed nothing has to be seen. */
        if (!disk->name || disk->label || disk->is_root || seed_path_is(disk->source))
            continue;
        if (!foreign_seed_reason(disk))
            check_warn(check, WARNING_DISK_UNSEEN, xml_line(disk->node),
                       "detach it if it is one: a guest can have only one seed; root "
                       "can look into files that others may not read",
                       "cannot see whether disk '%s' (%s) is a seed", disk->target,
                       disk->name);
    }
}

void
check_disks(const struct check *check)
{
    const struct disk *disk = check->facts->disk;
    const xmlNode *source;

    check_unseen(check);
    if (!disk)
        return;
    check_bus(check, disk);
    source = xml_child(disk->node, "source");
    if (strcmp(disk->device, "cdrom") == 0 &&
        !xml_attribute_is(source, "startupPolicy", "mandatory"))
        check_warn(check, WARNING_STARTUP_POLICY, xml_line(source),
                   "add startupPolicy='mandatory' to its <source>",
                   "the seed's cdrom lacks startupPolicy='mandatory': a saved guest "
                   "could be restored with an empty drive");
}
