/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oVirt's <initialization>: what was accepted and does nothing. */
#include "config.h"

#include "check/rules.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

static int
element_line(const struct request *request)
{
    const xmlNode *node = xml_first_element(request_find(request->domain));

    while (node && !vocabulary_is(node, "initialization"))
        node = xml_next_element(node);
    return node ? xml_line(node) : request->line;
}

static void
check_nic_count(const struct check *check)
{
    const struct network *network = check->request->network;
    const xmlNode *devices = xml_child(check->domain->root, "devices");
    size_t count = 0;

    for (const xmlNode *node = xml_child(devices, "interface"); node;
         node = xml_next(node, "interface"))
        count++;
    if (!network || network->nic_count <= count)
        return;
    findings_warn(check->findings, WARNING_NIC_COUNT, element_line(check->request),
                  "add the interfaces to the domain, or remove their nic_configuration",
                  "<nic_configurations> has %zu, and the domain %zu interfaces",
                  network->nic_count, count);
}

void
check_initialization(const struct check *check)
{
    const struct initialization *initialization = check->request->initialization;

    if (!initialization)
        return;
    for (size_t i = 0; i < initialization->note_count; i++)
        findings_warn(check->findings, WARNING_WITHOUT_EFFECT,
                      element_line(check->request),
                      "remove it where the guest is Linux; Windows' sysprep knows it",
                      "<initialization>: %s", initialization->notes[i]);
    check_nic_count(check);
}
