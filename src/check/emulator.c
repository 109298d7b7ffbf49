/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The emulator shim, which libvirt may not be able to run. */
#include "config.h"

#include "base/cleanup.h"
#include "check/rules.h"
#include "domain/xml.h"
#include "store/apparmor.h"

/* Return: whether the domain is to have no profile of AppArmor's. */
static bool
is_unconfined(const struct domain *domain)
{
    for (const xmlNode *node = xml_child(domain->root, "seclabel"); node;
         node = xml_next(node, "seclabel")) {
        bool of_another = xml_attribute_is(node, "model", "dac") ||
                          xml_attribute_is(node, "model", "selinux");

        if (xml_attribute_is(node, "type", "none") && !of_another)
            return true;
    }
    return false;
}

void
check_emulator(struct findings *findings, const struct domain *domain, int root)
{
    cleanup_failure struct failure *failure = NULL;

    if (domain_is_by_shim(domain) && !is_unconfined(domain))
        apparmor_check_shim(root, &failure);
    findings_take(findings, &failure);
}
