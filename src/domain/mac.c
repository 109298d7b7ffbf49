/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "domain/interface.h"
#include "domain/mac.h"
#include "domain/xml.h"

static bool
has_hostdev(const xmlNode *devices)
{
    for (const xmlNode *node = xml_child(devices, "hostdev"); node;
         node = xml_next(node, "hostdev")) {
        if (xml_attribute_is(node, "type", "pci") ||
            xml_attribute_is(node, "type", "mdev"))
            return true;
    }
    return false;
}

bool
mac_is_missing(const struct domain *domain, const char *mac)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    cleanup_free char *wanted = interface_normalize_mac(mac);
    int count = 0;

    for (const xmlNode *node = xml_child(devices, "interface"); node;
         node = xml_next(node, "interface")) {
        cleanup_free char *found = device_mac(node);

        if (!found || ++count > LIMIT_NICS || (wanted && strcmp(found, wanted) == 0))
            return false;
    }
    return !has_hostdev(devices);
}
