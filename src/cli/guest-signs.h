/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signs of life of a guest in which cloud-init has not reported, or has stopped
 * reporting: whether its end of the report channel is open, whether its guest agent runs,
 * and when it last printed to its console, if that goes to a file. They tell a slow guest
 * from one without cloud-init.
 */
#pragma once

#include <stdbool.h>

#include <libvirt/libvirt.h>

struct guest_signs {
    bool runs;        /* the others are only known if it does */
    bool has_port;    /* the XML has the report channel; the shim's is not there */
    bool reports;     /* the reporter holds the channel open */
    bool has_agent;   /* the guest agent holds its channel open */
    long console_age; /* seconds since something was printed; -1 if it is not known */
    bool is_silent;   /* the console's file is empty */
};

/* Reads them; the connection may be a read-only one. `root` is the directory "/" of the
 * host. */
void guest_signs_read(struct guest_signs *signs, virDomainPtr domain, int root);

/* Return: what the signs say about a guest that has not reported, or, with `was_heard`,
 * has not reported its end; and what to do. Each is a phrase, owned by the caller (free),
 * or NULL if the signs say nothing. */
char *guest_signs_reason(const struct guest_signs *signs, bool was_heard);
char *guest_signs_hint(const struct guest_signs *signs, bool was_heard);
