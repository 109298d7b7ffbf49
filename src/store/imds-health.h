/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the metadata server answers, which is more than that somebody listens. */
#pragma once

#include "base/failure.h"

enum imds_health {
    IMDS_HEALTHY,
    IMDS_ABSENT,  /* nobody listens */
    IMDS_SILENT,  /* somebody does, and does not answer */
    IMDS_FOREIGN, /* another server does */
    IMDS_UNKNOWN, /* no interface of this host has the address, or asking is not allowed */
};

/*
 * Asks for /healthz at the address of a seed's URL (wire/url.h), if it is one of this host's.
 * It takes LIMIT_IMDS_PROBE_SECONDS for each of two steps at most. Return: how the server is;
 * there is a failure for all but IMDS_HEALTHY.
 */
enum imds_health imds_health_ask(const char *url_address, struct failure **failure);

/*
 * Refuses the start of a guest that would ask for its seed in vain, and come up as a new
 * machine. IMDS_UNKNOWN is accepted: an address may come later, and SELinux may not let the
 * hook ask.
 */
int imds_health_check(const char *url_address, struct failure **failure);
