/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a domain of libvirt's stands: its wiring and its seed, what its guest was booted with, and
 * how far that is. It is read from the domain's XML, the run-time directory, the record of its
 * last boot and the guest's report, each as far as the caller may read it: what may not be read is
 * unknown, and no failure.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>
#include <libvirt/libvirt.h>

#include "base/failure.h"
#include "store/guest-report.h"

enum answer {
    ANSWER_NO,
    ANSWER_YES,
    ANSWER_UNKNOWN,
};

struct domain_status {
    char *name;
    char uuid[VIR_UUID_STRING_BUFLEN];
    const char *state; /* "running", "off", … */
    bool asks;         /* for a seed */
    enum answer wired;
    enum answer seed; /* whether there is one */
    char *datasource; /* that the guest was last booted with, or else would be; or NULL */
    char *instance_id;       /* the same */
    enum guest_state result; /* of cloud-init */
    enum guest_stage stage;  /* the last one that has begun, or GUEST_STAGE_NONE */
    char *since;    /* since when, by the host's clock; NULL where that is not known */
    json_t *errors; /* a list of strings */
    struct failure *unread; /* why something is unknown; NULL if nothing is. Owned */
};

/*
 * `imds_address` is the one of the configuration, or NULL where nobody knows.
 * Return: 0, or -1 where libvirt fails; VIR_ERR_NO_DOMAIN is its last error where the domain is
 * gone.
 */
int domain_status_read(struct domain_status *status, int root, const char *imds_address,
                       virDomainPtr domain, struct failure **failure);

void domain_status_clear(struct domain_status *status);
