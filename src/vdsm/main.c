/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-vdsm: VDSM's hook "50_virt_seed" at before_vm_start.
 *
 * How it works: only at this point does VDSM read the XML back from its hooks before it
 * defines the domain. So a VM that asks for a seed, in its metadata or with a custom
 * property, is wired here, as VDSM's user, at every start. The seed itself is made a
 * moment later by libvirt's hook, as root, and again when the guest is restored or
 * migrated, since by then the domain's XML has the request and the wiring.
 *
 * VDSM shows our standard error to the engine's user, and waits for us without a limit.
 * Any failure stops the start: a guest that asks for a seed does not boot without one.
 */
#include "config.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "image/image.h"
#include "store/configuration.h"
#include "vdsm/vdsm.h"
#include "wire/wire.h"

/* VDSM's exit statuses (lib/vdsm/hook/hooking.py): done; failed, do not run further
 * hooks. 1 would mean: failed, run further hooks. */
#define STATUS_DONE 0
#define STATUS_STOP 2

static const volatile sig_atomic_t late_status = STATUS_STOP;

#define SECONDS DECIMAL(LIMIT_HOOK_SECONDS)
static const char too_late[] =
    "virt-seed: error: wiring took more than " SECONDS " seconds\n"
    "virt-seed: hint: check for a storage domain that does not respond\n";

/* --- wiring ----------------------------------------------------------------------- */

static int
wire(struct domain *domain, const char *property, struct failure **failure)
{
    /* The engine's own cloud-init is a disk by now. It is not replaced: the user asked
     * for both. */
    struct wire_options options = {
        .foreign_hint = "keep one of them: leave the engine's Initial Run empty and "
                        "remove the CD, or remove virt-seed's request",
    };
    cleanup_config struct config config = {0};
    cleanup_request struct request request = {0};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_close int root = -1;

    if (property && property_write(domain, property, failure) < 0)
        return -1;
    /* Without a request there may be oVirt's payload, which VDSM handles. */
    if (!request_find(domain))
        return 0;
    if (request_read(&request, domain, failure) < 0)
        return -1;
    label_read_disks(domain);
    /* Only if needed: VDSM's user may not be allowed to read the file. */
    if (request.datasource->over_http) {
        root = fs_open_root("/");
        if (root < 0)
            return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '/'");
        if (config_read(&config, root, failure) < 0)
            return -1;
    }
    options.imds_address = config.imds_address;
    return wire_domain(domain, &request, &options, &wiring, failure);
}

/* --- all of it -------------------------------------------------------------------- */

static int
run(struct failure **failure)
{
    const char *property = getenv(PROPERTY_NAME);
    cleanup_exchange struct exchange exchange = EXCHANGE_NONE;
    const struct buffer *given = &exchange.text;
    cleanup_domain struct domain domain = {0};
    cleanup_xml xmlDoc *doc = NULL;
    cleanup_free char *text = NULL;
    size_t size;

    if (property && !*property)
        property = NULL;
    if (exchange_read(&exchange, failure) < 0)
        return -1;
    /* Most VMs ask for nothing. */
    if (!property &&
        (given->size == 0 ||
         !memmem(given->data, given->size, REQUEST_NAMESPACE, strlen(REQUEST_NAMESPACE))))
        return 0;
    doc = xml_parse(given->data, given->size, exchange.path, failure);
    if (!doc || domain_read(&domain, doc, failure) < 0)
        return -1;
    if (wire(&domain, property, failure) < 0)
        return failure_prefix(failure, "VM '%s'", domain.name);
    text = xml_format(doc, &size, failure);
    if (!text)
        return -1;
    if (size == given->size && memcmp(text, given->data, size) == 0)
        return 0;
    return exchange_replace(&exchange, text, failure);
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;

    if (process_begin() < 0)
        return STATUS_STOP;
    process_harden();
    process_limit_time(LIMIT_HOOK_SECONDS, too_late, &late_status);
    if (argc > 1)
        failure_set(&failure, FAILURE_USAGE,
                    "'%s': this hook takes no arguments\n"
                    "VDSM runs it; see virt-seed-vdsm(8)",
                    argv[1]);
    if (!failure && run(&failure) == 0)
        return STATUS_DONE;
    print_failure(failure);
    return STATUS_STOP;
}
