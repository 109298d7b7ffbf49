/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds that the guest fetches over the network: whether it can reach the server, and what
 * arrives too late. */
#include "config.h"

#include "check/check.h"
#include "domain/vocabulary.h"

#define OR_DISK ", or use datasource=\"nocloud\""

static void
check_way(const struct check *check)
{
    /* Those through which a guest reaches its own host. */
    static const char *const types[] = {"network", "bridge", "user", "ethernet", NULL};
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_failure struct failure *failure = NULL;

    if (interfaces_read(&interfaces, check->domain, &failure) < 0)
        return;
    for (size_t i = 0; i < interfaces.count; i++) {
        const char *type = interfaces.items[i].type;

        if (type && word_is_in(type, types))
            return;
    }
    check_warn(check, WARNING_HOST_UNREACHED, check->request->line,
               "add an interface of type 'network', 'bridge' or 'user'" OR_DISK,
               "no interface lets the guest reach its own host, which serves its seed: "
               "interfaces of type 'direct' and passed-through NICs bypass the host");
}

void
check_nocloud_net(const struct check *check)
{
    const struct part *part = parts_find(&check->request->parts, PART_NETWORK_CONFIG);

    if (!check->request->datasource->over_http)
        return;
    check_way(check);
    /* By then cloud-init has brought up its fallback, DHCP, and does so again at each boot
     * (cmd/main.py, main_init; stages.py, apply_network_config). Since 24.3 it applies what
     * it fetched, at the first boot. */
    if (check->request->network || (part && part->data.size > 0))
        check_warn(check, WARNING_NETWORK_LATE, check->request->line,
                   "assign the addresses with DHCP" OR_DISK,
                   "network-config comes over the network, which is too late: cloud-init "
                   "ignores it, or applies it only at the first boot");
}
