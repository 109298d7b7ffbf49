/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the metadata server answers, rather than just listens. */
#pragma once

#include "base/base.h"

enum imds_health {
    IMDS_HEALTHY,
    IMDS_ABSENT,  /* nothing is listening */
    IMDS_SILENT,  /* the server does not answer */
    IMDS_FOREIGN, /* another server, or another user's, is listening */
    IMDS_UNKNOWN, /* this host does not have the address, or asking is not allowed */
};

/*
 * Asks for /healthz at the address of a seed's URL (wire/url.h), if it is one of this
 * host's. Each of two steps takes at most LIMIT_IMDS_PROBE_SECONDS. Return: the server's
 * health; sets a failure for all but IMDS_HEALTHY.
 */
enum imds_health imds_health_ask(const char *url_address, struct failure **failure);

/*
 * Refuses the start of a guest that would not get its seed and come up as a new machine,
 * or with FAILURE_IMDS_USER, that would take another user's seed.
 * Accepts IMDS_UNKNOWN: the address may be added later, and SELinux may keep the hook
 * from asking.
 */
int imds_health_check(const char *url_address, struct failure **failure);
