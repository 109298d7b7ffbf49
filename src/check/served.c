/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A seed that the guest fetches over the network: whether it gets there, what comes too late that
 * way, and whether somebody serves it. */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "check/rules.h"
#include "domain/interface.h"
#include "domain/seed-url.h"
#include "store/listening.h"
#include "store/served-seed.h"

#define OR_DISK ", or use datasource=\"nocloud\""

/* --- the way there ------------------------------------------------------------------ */

static bool
is_type(const struct interface *interface, const char *type)
{
    return interface->type && strcmp(interface->type, type) == 0;
}

/* Return: whether what the guest sends to its host by the interface arrives elsewhere. */
static bool
leads_past(const struct interface *interface)
{
    return !is_type(interface, "network") && !is_type(interface, "bridge") &&
           !is_type(interface, "user") && !is_type(interface, "ethernet");
}

static void
check_way(const struct check *check)
{
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_failure struct failure *failure = NULL;

    if (interfaces_read(&interfaces, check->domain, &failure) < 0)
        return;
    for (size_t i = 0; i < interfaces.count; i++) {
        if (!leads_past(&interfaces.items[i]))
            return;
    }
    findings_warn(check->findings, WARNING_HOST_UNREACHED, check->request->line,
                  "add an interface of type 'network', 'bridge' or 'user'" OR_DISK,
                  "by none of its interfaces the guest reaches its own host, where its "
                  "seed is served: those of type 'direct' and NICs of the host lead past "
                  "it");
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
check_listening(const struct check *check)
{
    const struct request *request = check->request;
    cleanup_seed_url struct seed_url url = {.address = NULL};
    cleanup_failure struct failure *failure = NULL;
    const char *address = check->config->imds_address;

    if (!address && seed_url_find_own(&url, check->domain))
        address = url.address;
    if (!address || listening_check(address, &failure) == 0)
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
check_server(const struct check *check)
{
    cleanup_failure struct failure *failure = NULL;

    if (request_has_disk(check->request))
        return;
    if (served_seed_check_tree(check->root, &failure) < 0)
        failure_at_line(&failure, check->request->line);
    findings_take(check->findings, &failure);
    check_listening(check);
}
