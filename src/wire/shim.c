/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "wire/shim.h"

char *
wire_shim_emulator(const struct domain *domain)
{
    cleanup_free char *name = domain_emulator(domain);
    const char *known = strncmp(name, "qemu-", 5) == 0 ? name : "qemu-system-x86_64";

    return xasprintf("%s/" SHIM_PREFIX "%s", VIRT_SEED_BINDIR, known);
}

bool
wire_shim_can(const struct request *request)
{
    return request_has_disk(request) &&
           (request->bus == DOMAIN_BUS_OTHER || request->bus == DOMAIN_BUS_SCSI);
}

int
wire_shim_check(const struct request *request, struct failure **failure)
{
    if (wire_shim_can(request))
        return 0;
    /* Its order is written at each start, and a token is made once. */
    if (!request_has_disk(request))
        return failure_set(failure, FAILURE_REQUEST,
                           "datasource=\"nocloud-net\", but virt-seed-qemu, the "
                           "domain's <emulator>, has a disk for the seed alone\n"
                           "use datasource=\"nocloud\"; or name QEMU itself in "
                           "<emulator>, and wire the domain: virt-seed wire");
    return failure_set(failure, FAILURE_BUS,
                       "bus=\"%s\", but virt-seed-qemu, the domain's <emulator>, has "
                       "scsi alone\n"
                       "leave bus= away; or name QEMU itself in <emulator>, and wire "
                       "the domain: virt-seed wire",
                       domain_bus_name(request->bus));
}
