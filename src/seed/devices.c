/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/interface.h"
#include "domain/seed-path.h"
#include "domain/xml.h"
#include "seed/devices.h"
#include "seed/json.h"

static const struct {
    const char *element;
    const char *type;
} kinds[] = {
    {"interface", "nic"},
    {"hostdev", "hostdev"},
    {"disk", "disk"},
};

/* Return: the bus where no PCI address tells it: of a disk's target; NULL for none. */
static char *
target_bus(const xmlNode *node)
{
    const xmlNode *target = xml_child(node, "target");
    cleanup_free char *bus = target ? xml_attribute(target, "bus") : NULL;

    return bus && strcmp(bus, "virtio") != 0 ? steal(bus) : NULL;
}

static json_t *
describe(const xmlNode *node, const char *type, const char *tag)
{
    cleanup_free char *pci = device_pci_address(node);
    cleanup_free char *bus = pci ? xstrdup("pci") : target_bus(node);
    cleanup_free char *mac = device_mac(node);
    json_t *device = json_object();

    json_set_string(device, "type", type);
    if (bus)
        json_set_string(device, "bus", bus);
    if (pci)
        json_set_string(device, "address", pci);
    if (mac)
        json_set_string(device, "mac", mac);
    json_must(json_object_set_new(device, "tags", json_pack("[s]", tag)));
    return device;
}

/* Return: the user's tag of the device, owned by the caller (free); NULL for none. The
 * seed's own disk has none, so that wiring changes nothing in the seed. */
static char *
device_tag(const xmlNode *node)
{
    cleanup_free char *alias = device_alias(node);
    size_t length = strlen(DEVICE_USER_ALIAS);

    if (!alias || strncmp(alias, DEVICE_USER_ALIAS, length) != 0 || !alias[length] ||
        strcmp(alias, SEED_DISK_ALIAS) == 0)
        return NULL;
    return xstrdup(alias + length);
}

static void
add_kind(json_t *list, const xmlNode *devices, const char *element, const char *type)
{
    for (const xmlNode *node = xml_child(devices, element); node;
         node = xml_next(node, element)) {
        cleanup_free char *tag = device_tag(node);

        if (tag)
            json_must(json_array_append_new(list, describe(node, type, tag)));
    }
}

json_t *
devices_to_json(const struct domain *domain)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    cleanup_json json_t *list = json_array();

    for (size_t i = 0; devices && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        add_kind(list, devices, kinds[i].element, kinds[i].type);
    return json_array_size(list) > 0 ? steal(list) : NULL;
}
