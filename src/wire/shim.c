/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/shim-name.h"
#include "domain/xml.h"
#include "wire/disk.h"
#include "wire/report.h"
#include "wire/serial.h"
#include "wire/shim.h"

bool
wire_shim_reports(const struct domain *domain, const struct request *request)
{
    return domain_is_by_shim(domain) && request_wants_report(request) &&
           !wire_report_is_by_user(domain);
}

char *
wire_shim_emulator(const struct domain *domain)
{
    cleanup_free char *name = domain_emulator(domain);
    const char *known = strncmp(name, "qemu-", 5) == 0 ? name : "qemu-system-x86_64";

    return xasprintf("%s/" SHIM_PREFIX "%s", VIRT_SEED_BINDIR, known);
}

static bool
has_bus(const struct request *request)
{
    return request->bus == DOMAIN_BUS_OTHER || request->bus == DOMAIN_BUS_SCSI;
}

static int
check_bus(const struct request *request, struct failure **failure)
{
    if (has_bus(request))
        return 0;
    failure_set(failure, FAILURE_BUS,
                "bus=\"%s\", but virt-seed-qemu, the domain's <emulator>, has scsi alone",
                domain_bus_name(request->bus));
    return failure_hint(failure, "leave bus= away; or name QEMU itself in <emulator>, "
                                 "and wire the domain: virt-seed wire");
}

/* Its note for the shim is made anew at each start, and a token is made once. */
static int
check_datasource(const struct request *request, struct failure **failure)
{
    if (request_has_disk(request))
        return 0;
    failure_set(
        failure, FAILURE_REQUEST,
        "datasource=\"nocloud-net\", but virt-seed-qemu, the domain's <emulator>, "
        "has a disk for the seed alone");
    return failure_hint(failure, "use datasource=\"nocloud\"; or name QEMU itself in "
                                 "<emulator>, and wire the domain: virt-seed wire");
}

bool
wire_shim_can(const struct request *request)
{
    return request_has_disk(request) && has_bus(request);
}

int
wire_shim(struct domain *domain, const struct request *request,
          const struct wire_options *options, struct wiring *wiring,
          struct failure **failure)
{
    if (check_datasource(request, failure) < 0 || check_bus(request, failure) < 0 ||
        wire_remove_foreign(domain, options, wiring, failure) < 0)
        return -1;
    wire_remove(domain, wiring);
    return wire_shim_serial(domain, request, failure) ? 0 : -1;
}
