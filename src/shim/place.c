/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "shim/arguments.h"
#include "shim/command.h"
#include "shim/place.h"

#define PCI_CONTROLLER "virtio-scsi-pci"
#define CCW_CONTROLLER "virtio-scsi-ccw"

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
    for (size_t i = 0; type && i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (fnmatch(machines[i].pattern, type, 0) == 0)
            return &machines[i];
    }
    failure_set(failure, FAILURE_DOMAIN,
                "machine '%s' has no place that virt-seed-qemu knows for the seed",
                type ? type : "");
    failure_hint(failure, "use q35, pc, virt, pseries or s390-ccw-virtio; or name QEMU "
                          "itself in <emulator>, and wire the domain: virt-seed wire");
    return NULL;
}

static bool
is_there(const char *device, const char *bus)
{
    cleanup_free char *address = list_value(device, "addr", NULL);
    cleanup_free char *device_bus = list_value(device, "bus", NULL);
    cleanup_free char *number = list_value(device, "devno", NULL);

    if (!bus)
        return number && strcmp(number, COMMAND_CCW_DEVICE) == 0;
    return address && (!device_bus || strcmp(device_bus, bus) == 0) &&
           strtoul(address, NULL, 16) == COMMAND_PCI_SLOT;
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
                    COMMAND_PCI_SLOT, bus, name);
    else
        failure_set(failure, FAILURE_BUS,
                    "device number " COMMAND_CCW_DEVICE
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

char *
place_controller(char **arguments, struct failure **failure)
{
    const struct machine *machine = find_machine(arguments, failure);

    if (!machine || check_free(arguments, machine->bus, failure) < 0)
        return NULL;
    if (!machine->bus)
        return xstrdup(CCW_CONTROLLER ",devno=" COMMAND_CCW_DEVICE);
    return xasprintf(PCI_CONTROLLER ",bus=%s,addr=0x%x", machine->bus, COMMAND_PCI_SLOT);
}
