/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the metadata server answers, rather than just listens; store/imds-check.h says it in
 * words. */
#pragma once

#include "base/base.h"

enum imds_health {
    IMDS_HEALTHY,
    /* The tree of seeds (host/imds-tree.h) is missing or not as the server needs it. */
    IMDS_TREE_MISSING,
    IMDS_TREE_NO_DIRECTORY,
    IMDS_TREE_CLOSED, /* to the server: `number` is its mode */
    IMDS_TREE_OPEN,   /* to others, who may write to it: the same */
    IMDS_TREE_OWNER,  /* is the user `number` */
    IMDS_ABSENT,      /* nothing is listening */
    /* The server does not answer. */
    IMDS_DEAF,    /* it does not accept the connection */
    IMDS_SILENT,  /* it sends nothing */
    IMDS_CLOSING, /* it closes the connection */
    IMDS_FAILING, /* it cannot read the seeds */
    IMDS_OTHER,   /* another server is listening */
    IMDS_FOREIGN, /* a program of the user `number` is listening */
    /* This host does not have the address, or asking is not allowed: `number` is the errno. */
    IMDS_UNKNOWN,
    IMDS_HEALTH_LAST = IMDS_UNKNOWN,
};

struct imds_finding {
    enum imds_health health;
    uint32_t number;
};

/*
 * Asks for /healthz at the address of a seed's URL (wire/url.h), if it is one of this
 * host's. Each of two steps takes at most LIMIT_IMDS_PROBE_SECONDS.
 */
struct imds_finding imds_health_find(const char *url_address);
