/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest's early detection (cloud-init's tools/ds-identify) recognizes a
 * datasource by: the system UUID, the kernel command line. */
#include "config.h"

#include <fnmatch.h>
#include <string.h>

#include "base/memory.h"
#include "check/check.h"
#include "domain/xml.h"

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
    check_kernel(check);
}
