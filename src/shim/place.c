/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shim/arguments.h"
#include "shim/command.h"

/* libvirt's own names of the machines (qemuDomainMachineIsQ35 and its neighbours). */
static const struct machine {
    const char *pattern;
    const char *bus; /* the first PCI bus; NULL on s390x */
} machines[] = {
    {"q35", "pcie.0"},           {"pc-q35-*", "pcie.0"}, {"pc", "pci.0"},
    {"pc-i440fx-*", "pci.0"},    {"virt", "pcie.0"},     {"virt-*", "pcie.0"},
    {"pseries", "pci.0"},        {"pseries-*", "pci.0"}, {"s390-ccw-virtio", NULL},
    {"s390-ccw-virtio-*", NULL},
};

static const struct machine *
find_machine(char **arguments, struct failure **failure)
{
    const char *option;
    cleanup_free char *type = NULL;

    if (arguments_find(arguments, "machine", &option) > 0 ||
        arguments_find(arguments, "M", &option) > 0)
        type = list_value(option, "type", "type");
    for (size_t i = 0; type && i < ARRAY_SIZE(machines); i++) {
        if (fnmatch(machines[i].pattern, type, 0) == 0)
            return &machines[i];
    }
    failure_set(failure, FAILURE_DOMAIN,
                "machine '%s' has no place that virt-seed-qemu knows for the seed\n"
                "use q35, pc, virt, pseries or s390-ccw-virtio; or name QEMU itself in "
                "<emulator>, and wire the domain: virt-seed wire",
                type ? type : "");
    return NULL;
}

static bool
is_there(const char *device, const char *bus)
{
    cleanup_free char *address = list_value(device, "addr", NULL);
    cleanup_free char *device_bus = list_value(device, "bus", NULL);
    cleanup_free char *number = list_value(device, "devno", NULL);

    if (!bus)
        return number && (strcmp(number, PLACE_CCW_SCSI) == 0 ||
                          strcmp(number, PLACE_CCW_SERIAL) == 0);
    return address && (!device_bus || strcmp(device_bus, bus) == 0) &&
           strtoul(address, NULL, 16) == PLACE_PCI_SLOT;
}

static int
fail_taken(const char *device, const char *bus, struct failure **failure)
{
    cleanup_free char *id = list_value(device, "id", NULL);
    cleanup_free char *driver = list_value(device, "driver", "driver");
    const char *name = id ? id : driver ? driver : "a device";

    if (bus)
        failure_set(failure, FAILURE_BUS,
                    "slot 0x%x of '%s', where virt-seed-qemu puts the seed, has '%s'",
                    PLACE_PCI_SLOT, bus, name);
    else
        failure_set(failure, FAILURE_BUS,
                    "device number " PLACE_CCW_SCSI " or " PLACE_CCW_SERIAL
                    ", where virt-seed-qemu puts the seed, has '%s'",
                    name);
    return failure_hint(failure,
                        "give that device another <address>; or name QEMU itself in "
                        "<emulator>, and wire the domain: virt-seed wire");
}

static int
check_free(char **arguments, const char *bus, struct failure **failure)
{
    struct option_at option;
    size_t index = 1;

    while ((option = arguments_next(arguments, &index)).name) {
        if (strcmp(option.name, "device") == 0 && is_there(option.value, bus))
            return fail_taken(option.value, bus, failure);
    }
    return 0;
}

int
place_find(struct place *place, char **arguments, struct failure **failure)
{
    const struct machine *machine = find_machine(arguments, failure);

    if (!machine || check_free(arguments, machine->bus, failure) < 0)
        return -1;
    place->bus = machine->bus;
    return 0;
}

char *
place_scsi(const struct place *place, bool alone)
{
    if (!place->bus)
        return xstrdup("virtio-scsi-ccw,devno=" PLACE_CCW_SCSI);
    return xasprintf("virtio-scsi-pci,bus=%s,addr=0x%x%s", place->bus, PLACE_PCI_SLOT,
                     alone ? "" : ",multifunction=on");
}

char *
place_serial(const struct place *place)
{
    if (!place->bus)
        return xstrdup("virtio-serial-ccw,devno=" PLACE_CCW_SERIAL);
    return xasprintf("virtio-serial-pci,bus=%s,addr=0x%x.0x1", place->bus,
                     PLACE_PCI_SLOT);
}
