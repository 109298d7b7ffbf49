/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the address is the same for all guests, one on the host's loopback
 * interface. Guests on a bridge reach it by their gateway, and QEMU's user networking (SLIRP)
 * connects on the guest's behalf, as a process of the host, to whatever address the guest
 * names: tried, by a guest.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/xml.h"
#include "wire/seed-url.h"
#include "wire/url.h"

int
wire_url_check(const struct domain *domain, struct failure **failure)
{
    const xmlNode *devices = xml_child(domain->root, "devices");

    /* A host's device that is passed through may be a NIC. */
    if (xml_child(devices, "interface") || xml_child(devices, "hostdev"))
        return 0;
    failure_set(
        failure, FAILURE_NO_NETWORK,
        "asks for datasource=\"nocloud-net\", and has no <interface> to fetch its "
        "seed by");
    return failure_hint(failure, "give the domain an <interface>, or use "
                                 "datasource=\"nocloud\", which is a disk");
}

static int
make(struct seed_url *url, const struct domain *domain, struct failure **failure)
{
    int error;

    seed_url_clear(url);
    memcpy(url->uuid, domain->uuid, sizeof(url->uuid));
    error = seed_url_make_token(url);
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_SYSTEM, error,
                             "could not make a token of random bits");
}

/* Where nobody knows the address, the one that is there stays. */
static void
set_address(struct seed_url *url, const struct wire_options *options)
{
    const char *address =
        options->imds_address ? options->imds_address : VIRT_SEED_IMDS_ADDRESS;

    if (url->address && !options->imds_address)
        return;
    free(url->address);
    url->address = xstrdup(address);
}

char *
wire_url_word(const struct domain *domain, const struct wire_options *options,
              struct failure **failure)
{
    cleanup_seed_url struct seed_url url = {.address = NULL};

    if (!seed_url_find_own(&url, domain) && make(&url, domain, failure) < 0)
        return NULL;
    set_address(&url, options);
    return seed_url_word(&url);
}
