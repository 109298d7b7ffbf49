/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A seed that the guest fetches over the network: whether it gets there, what comes too late that
 * way, and whether somebody serves it. */
#include "config.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/rules.h"
#include "domain/interface.h"
#include "domain/xml.h"
#include "store/delivery.h"
#include "store/libvirt-host.h"
#include "wire/url.h"

#define OR_DISK ", or use datasource=\"nocloud\""

/* --- the way there ------------------------------------------------------------------ */

static bool
is_type(const struct interface *interface, const char *type)
{
    return interface->type && strcmp(interface->type, type) == 0;
}

/* Return: whether what the guest sends to its host by the interface arrives elsewhere. */
static bool
leads_past(const struct check *check, const struct interface *interface)
{
    (void)check;
    return !is_type(interface, "network") && !is_type(interface, "bridge") &&
           !is_type(interface, "user") && !is_type(interface, "ethernet");
}

static bool
is_down(const struct check *check, const struct interface *interface)
{
    const xmlNode *link = xml_child(interface->node, "link");

    (void)check;
    return link && xml_attribute_is(link, "state", "down");
}

/* Return: whether the word, of a DAC label, is the user's name or number. libvirt looks for a
 * name first, but behind a "+" (virGetUserID). */
static bool
is_user(const char *word, uid_t uid)
{
    const struct passwd *entry = *word == '+' ? NULL : getpwnam(word);
    char *end;
    unsigned long number;

    if (entry)
        return entry->pw_uid == uid;
    number = strtoul(word, &end, 10);
    return end > word && !*end && number == uid;
}

/* Return: the label that the domain's QEMU is to have, "USER:GROUP", owned by the caller (free);
 * NULL where libvirt chooses it. The XML of a domain that runs has what it chose. */
static char *
find_own_label(const struct domain *domain)
{
    for (const xmlNode *node = xml_child(domain->root, "seclabel"); node;
         node = xml_next(node, "seclabel")) {
        const xmlNode *label = xml_child(node, "label");

        if (label && xml_attribute_is(node, "model", "dac") &&
            xml_attribute_is(node, "type", "static"))
            return xml_text(label);
    }
    return NULL;
}

/* The server takes what comes from sockets of this host for a guest's only where they belong to
 * the user whom it takes for QEMU's (imds/peer.h). */
static bool
is_of_other_user(const struct check *check, const struct interface *interface)
{
    cleanup_free char *label =
        is_type(interface, "user") ? find_own_label(check->domain) : NULL;
    struct qemu_user qemu;

    if (!label)
        return false;
    label[strcspn(label, ":")] = '\0';
    qemu = qemu_user_find(check->root);
    return !qemu.known || !is_user(label, qemu.uid);
}

/* Why a guest gets nothing by an interface; one is enough. */
static const struct obstacle {
    bool (*applies)(const struct check *check, const struct interface *interface);
    enum warning id;
    const char *message;
    const char *hint;
} obstacles[] = {
    {leads_past, WARNING_HOST_UNREACHED,
     "by none of its interfaces the guest reaches its own host, where its seed is served: "
     "those of type 'direct' and NICs of the host lead past it",
     "add an interface of type 'network', 'bridge' or 'user'" OR_DISK},
    {is_down, WARNING_LINK_DOWN,
     "by none of its interfaces the guest gets its seed: with <link state='down'/> nothing "
     "comes through",
     "take <link state='down'/> away" OR_DISK},
    {is_of_other_user, WARNING_OTHER_USER,
     "by none of its interfaces the guest gets its seed: its <seclabel model='dac'> makes "
     "QEMU another user, and by user networking that one is given nothing",
     "take the <seclabel> away, or add an interface of type 'network' or "
     "'bridge'" OR_DISK},
};
#define OBSTACLES ARRAY_SIZE(obstacles)

/* Return: its place in the table; OBSTACLES where there is none. */
static size_t
find_obstacle(const struct check *check, const struct interface *interface)
{
    size_t i = 0;

    while (i < OBSTACLES && !obstacles[i].applies(check, interface))
        i++;
    return i;
}

static void
check_way(const struct check *check)
{
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_failure struct failure *failure = NULL;
    bool met[OBSTACLES + 1] = {false};

    if (interfaces_read(&interfaces, check->domain, &failure) < 0)
        return;
    for (size_t i = 0; i < interfaces.count; i++)
        met[find_obstacle(check, &interfaces.items[i])] = true;
    if (met[OBSTACLES])
        return;
    /* There may be a NIC of the host's that is passed through. */
    met[0] = met[0] || interfaces.count == 0;
    for (size_t i = 0; i < OBSTACLES; i++) {
        if (met[i])
            findings_warn(check->findings, obstacles[i].id, check->request->line,
                          obstacles[i].hint, "%s", obstacles[i].message);
    }
}

/* --- what comes over it ------------------------------------------------------------- */

/* By then cloud-init has brought up its fallback, DHCP, and does so again at each boot
 * (cmd/main.py, main_init; stages.py, apply_network_config). Versions from 24.3 on apply what
 * they fetch then, at the first boot. */
static void
check_late(const struct check *check)
{
    const struct part *part = parts_find(&check->request->parts, PART_NETWORK_CONFIG);

    if (check->request->network || (part && part->data.size > 0))
        findings_warn(check->findings, WARNING_NETWORK_LATE, check->request->line,
                      "let DHCP give the addresses" OR_DISK,
                      "network-config comes over the network here, too late: cloud-init "
                      "applies it not at all, or at the first boot alone");
}

void
check_served(const struct check *check)
{
    if (request_has_disk(check->request))
        return;
    check_way(check);
    check_late(check);
}

/* --- the server --------------------------------------------------------------------- */

/* The configuration's address is in the serial once the domain is wired. */
static void
check_listening(const struct check *check, const struct delivery *delivery)
{
    const struct request *request = check->request;
    cleanup_seed_url struct seed_url url = {.address = NULL};
    cleanup_failure struct failure *failure = NULL;
    const char *address = check->config->imds_address;

    if (!address && seed_url_find_own(&url, check->domain))
        address = url.address;
    if (!address || delivery->check_answer(address, &failure) == 0)
        return;
    failure_at_line(&failure, request->line);
    if (request->cache)
        findings_warn(check->findings, WARNING_NOBODY_LISTENS, request->line,
                      failure->hint, "%s, unless it has kept its seed (cache=\"keep\")",
                      failure->message);
    else
        findings_take(check->findings, &failure);
}

void
check_delivery(const struct check *check)
{
    const struct delivery *delivery = delivery_for(check->request, check->domain);
    cleanup_failure struct failure *failure = NULL;

    if (delivery->check_host && delivery->check_host(check->root, &failure) < 0)
        failure_at_line(&failure, check->request->line);
    findings_take(check->findings, &failure);
    if (delivery->check_answer)
        check_listening(check, delivery);
}
