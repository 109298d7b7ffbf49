/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a domain's XML says of virt-seed, read once: whether it asks for a seed, and by which
 * disk, emulator or URL its guest is to get it. Whether that is all the request needs is for
 * wire_domain() to say.
 */
#pragma once

#include <stdbool.h>

#include "domain/domain.h"
#include "domain/request.h"
#include "wire/url.h"

struct wire_facts {
    bool asks; /* by <cloud-init>, by the emulator shim, or by a payload with our disk */
    const struct disk *disk; /* with the path of a seed, whosever; borrowed; or NULL */
    bool by_shim;         /* the emulator is virt-seed-qemu, which adds a disk itself */
    struct seed_url url;  /* the last one in the serial; its address is NULL if none is */
    bool own_url;         /* made for this domain */
    bool seed_of_another; /* a disk or a URL is another domain's, as a clone has it */
    bool reports;         /* it has the report channel (wire_report_is_there()) */
    bool report_of_another; /* a device leads to another domain's report */
};

/* Reads them; they borrow the domain's disks until wire_domain() or domain_clear(). */
void wire_facts_read(struct wire_facts *facts, const struct domain *domain);

/* Return: whether the guest has a place for a seed, its own or another's disk, the shim's, or
 * the URL at which its own is served. */
bool wire_facts_are_wired(const struct wire_facts *facts);

/* Return: whether the guest will have a port for its report: in the XML, or by the shim. */
bool wire_facts_report(const struct wire_facts *facts, const struct domain *domain,
                       const struct request *request);

void wire_facts_clear(struct wire_facts *facts);

#define cleanup_wire_facts __attribute__((cleanup(wire_facts_clear)))
