/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest's early detection (cloud-init's tools/ds-identify) recognizes a
 * datasource by: SMBIOS tables, the system UUID, disk labels, the kernel command line. */
#include "config.h"

#include <fnmatch.h>
#include <string.h>

#include "base/memory.h"
#include "check/check.h"
#include "domain/xml.h"

#define CLOUD_HINT                                                                       \
    "use another value; with two datasources, the guest may choose the wrong one"

/* --- other clouds ------------------------------------------------------------------- */

/* The table's element and entry in libvirt's <sysinfo>, and a pattern (fnmatch). */
static const struct cloud {
    const char *table;
    const char *entry;
    const char *pattern;
    const char *cloud;
} clouds[] = {
    {"system", "manufacturer", "DigitalOcean", "DigitalOcean"},
    {"system", "manufacturer", "UpCloud", "UpCloud"},
    {"system", "manufacturer", "Hetzner", "Hetzner"},
    {"system", "manufacturer", "NWCS", "NWCS"},
    {"system", "manufacturer", "Vultr", "Vultr"},
    {"system", "manufacturer", "Linode", "Akamai"},
    {"system", "manufacturer", "Akamai", "Akamai"},
    {"system", "manufacturer", "Scaleway", "Scaleway"},
    {"system", "manufacturer", "e24cloud", "E24cloud (Ec2)"},
    {"system", "manufacturer", "Tilaa", "Tilaa (Ec2)"},
    {"system", "product", "3DS Outscale VM", "Outscale (Ec2)"},
    {"system", "product", "CloudStack*", "CloudStack"},
    {"system", "product", "CloudCIX", "CloudCIX"},
    {"system", "product", "Exoscale*", "Exoscale"},
    {"system", "product", "CloudSigma", "CloudSigma"},
    {"system", "product", "Google Compute Engine", "GCE"},
    {"system", "product", "OpenStack Nova", "OpenStack"},
    {"system", "product", "OpenStack Compute", "OpenStack"},
    {"system", "product", "Alibaba Cloud ECS", "AliYun"},
    {"system", "product", "SmartDC*", "SmartOS"},
    {"system", "serial", "GoogleCloud-*", "GCE"},
    {"system", "serial", "*.brightbox.com", "Brightbox (Ec2)"},
    {"baseBoard", "product", "LXD", "LXD"},
    {"chassis", "asset", "OpenTelekomCloud", "OpenStack"},
    {"chassis", "asset", "SAP CCloud VM", "OpenStack"},
    {"chassis", "asset", "HUAWEICLOUD", "OpenStack"},
    {"chassis", "asset", "Samsung Cloud Platform", "OpenStack"},
    {"chassis", "asset", "OpenStack Nova", "OpenStack"},
    {"chassis", "asset", "OpenStack Compute", "OpenStack"},
    {"chassis", "asset", "OracleCloud.com", "Oracle"},
    {"chassis", "asset", "*.zstack.io", "ZStack (Ec2)"},
    {"chassis", "asset", "7783-7084-3265-9085-8269-3286-77", "Azure"},
};

static void
check_sysinfo(const struct check *check)
{
    xml_foreach_element(table, domain_find_sysinfo(check->domain)) {
        xml_foreach(entry, table, "entry") {
            cleanup_free char *name = xml_attribute(entry, "name");
            cleanup_free char *value = xml_text(entry);

            for (size_t i = 0; name && i < ARRAY_SIZE(clouds); i++) {
                const struct cloud *cloud = &clouds[i];

                if (strcmp(cloud->table, (const char *)table->name) == 0 &&
                    strcmp(cloud->entry, name) == 0 &&
                    fnmatch(cloud->pattern, value, 0) == 0)
                    check_warn(
                        check, WARNING_OTHER_CLOUD, xml_line(entry), CLOUD_HINT,
                        "<sysinfo>: %s's %s '%.256s' makes cloud-init look for %s too",
                        cloud->table, name, value, cloud->cloud);
            }
        }
    }
}

static const struct {
    const char *label;
    const char *cloud;
} labels[] = {
    {"CONTEXT", "OpenNebula"}, {"CDROM", "OpenNebula"},  {"CLOUDMD", "RbxCloud"},
    {"cloudmd", "RbxCloud"},   {"OVF-TRANSPORT", "OVF"}, {"ovf-transport", "OVF"},
    {"OVFENV", "OVF"},         {"ovfenv", "OVF"},        {"OVF ENV", "OVF"},
    {"ovf env", "OVF"},
};

/* Warns of disks and channels that look like another cloud to cloud-init. */
static void
check_devices(const struct check *check)
{
    static const char *const lxd[] = {"org.linuxcontainers.lxd", "com.canonical.lxd"};
    const xmlNode *devices = xml_child(check->domain->root, "devices");

    for (size_t d = 0; d < check->domain->disk_count; d++) {
        const struct disk *disk = &check->domain->disks[d];

        for (size_t i = 0; disk->label && i < ARRAY_SIZE(labels); i++) {
            if (strcmp(disk->label, labels[i].label) == 0)
                check_warn(check, WARNING_OTHER_CLOUD, xml_line(disk->node),
                           "detach the disk, or give its volume another label",
                           "the label '%s' of disk '%s' makes cloud-init look for %s too",
                           disk->label, disk->target, labels[i].cloud);
        }
    }
    xml_foreach(node, devices, "channel") {
        for (size_t i = 0; i < ARRAY_SIZE(lxd); i++) {
            if (xml_attribute_is(xml_child(node, "target"), "name", lxd[i]))
                check_warn(check, WARNING_OTHER_CLOUD, xml_line(node),
                           "remove the channel, or give it another name",
                           "the channel '%s' makes cloud-init look for LXD too", lxd[i]);
        }
    }
}

/* --- the serial --------------------------------------------------------------------- */

/* ds-identify reads one line of it with the shell's read, which drops backslashes. */
static void
check_serial(const struct check *check)
{
    const xmlNode *node = domain_find_serial(check->domain);
    cleanup_free char *serial = xml_text(node);

    for (size_t i = 0; serial[i]; i++) {
        if (serial[i] >= ' ' && serial[i] < 0x7f && serial[i] != '\\')
            continue;
        check_warn(check, WARNING_SERIAL_CHARACTERS, xml_line(node),
                   "use ASCII letters, digits and punctuation, on one line",
                   "the SMBIOS serial has a backslash, a control character or a "
                   "non-ASCII character: cloud-init could misread it");
        return;
    }
}

static void
check_visibility(const struct check *check)
{
    const struct domain *domain = check->domain;
    const xmlNode *os = xml_child(domain->root, "os");
    const bool is_aarch64 = domain->arch && strcmp(domain->arch, "aarch64") == 0;
    const bool has_firmware =
        xml_child(os, "loader") || xml_attribute_is(os, "firmware", "efi");
    const bool without_firmware = is_aarch64 && xml_child(os, "kernel") && !has_firmware;

    if (!check->request->serial || !request_serial(check->request))
        return;
    if (without_firmware && check->request->datasource->over_http)
        check_warn(check, WARNING_SERIAL_HIDDEN, xml_line(os),
                   "boot with UEFI (<os firmware='efi'>), or use datasource=\"nocloud\"",
                   "a kernel that starts without firmware sees no SMBIOS serial on "
                   "aarch64, and nothing else tells the guest where its seed is");
    else if (without_firmware)
        check_warn(
            check, WARNING_SERIAL_HIDDEN, xml_line(os),
            "boot with UEFI (<os firmware='efi'>), or add 'ds=nocloud' to <cmdline>",
            "a kernel that starts without firmware sees no SMBIOS serial on "
            "aarch64; the guest finds its seed only by the label");
    xml_foreach_element(node, domain->root) {
        if (strcmp((const char *)node->name, "commandline") != 0)
            continue;
        xml_foreach_element(argument, node) {
            cleanup_free char *value = xml_attribute(argument, "value");

            if (!value ||
                (strcmp(value, "-smbios") != 0 && strcmp(value, "--smbios") != 0))
                continue;
            check_warn(check, WARNING_SERIAL_HIDDEN, xml_line(argument),
                       "move its values into <sysinfo type='smbios'>",
                       "QEMU's -smbios argument may replace the serial from <sysinfo>");
            return;
        }
    }
}

/* --- the kernel's command line ---------------------------------------------------- */

static const struct {
    const char *pattern;
    const char *message;
} arguments[] = {
    {"cloud-init=disabled", "disables cloud-init"},
    {"ds=*", "sets the datasource and overrides the seed's"},
    {"ci.ds=*", "sets the datasource and overrides the seed's"},
    {"ip=*", "overrides the seed's network-config"},
    {"network-config=*", "overrides the seed's network-config"},
    {"scaleway*", "makes cloud-init look for Scaleway too"},
    {"vultr*", "makes cloud-init look for Vultr too"},
};

static void
check_kernel(const struct check *check)
{
    const xmlNode *node = xml_child(xml_child(check->domain->root, "os"), "cmdline");
    cleanup_free char *text = xml_text(node);
    const char *serial = request_serial(check->request);
    const size_t length = serial ? strcspn(serial, ";") : 0;
    char *rest = NULL;

    for (char *word = strtok_r(text, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        /* The seed's own datasource, "ds=nocloud", with or without settings. */
        if (serial && strcspn(word, ";") == length && strncmp(word, serial, length) == 0)
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
            if (fnmatch(arguments[i].pattern, word, 0) == 0)
                check_warn(check, WARNING_KERNEL_ARGUMENTS, xml_line(node),
                           "remove it from <cmdline>, unless it is intended",
                           "<cmdline>: '%.256s' %s", word, arguments[i].message);
        }
    }
}

void
check_smbios(const struct check *check)
{
    const char *uuid = check->domain->uuid;

    check_sysinfo(check);
    if (*uuid && wire_looks_like_amazon(uuid))
        check_warn(check, WARNING_OTHER_CLOUD,
                   xml_line(xml_child(check->domain->root, "uuid")),
                   "give the domain another UUID: cloud-init recognizes EC2 guests by it",
                   "<uuid>: '%s' makes cloud-init look for Ec2 too", uuid);
    check_devices(check);
    check_serial(check);
    check_visibility(check);
    check_kernel(check);
}
