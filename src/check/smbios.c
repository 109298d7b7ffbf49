/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest's early detection (cloud-init's tools/ds-identify) recognizes a
 * datasource by: the SMBIOS serial, the system UUID, the kernel command line. */
#include "config.h"

#include <fnmatch.h>
#include <string.h>

#include "base/memory.h"
#include "check/check.h"
#include "domain/xml.h"

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

    if (*uuid && wire_looks_like_amazon(uuid))
        check_warn(check, WARNING_OTHER_CLOUD,
                   xml_line(xml_child(check->domain->root, "uuid")),
                   "give the domain another UUID: cloud-init recognizes EC2 guests by it",
                   "<uuid>: '%s' makes cloud-init look for Ec2 too", uuid);
    check_serial(check);
    check_visibility(check);
    check_kernel(check);
}
