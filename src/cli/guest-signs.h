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

/* What they say about a guest that has not reported, or not its end, and what to do: a
 * phrase each, or NULL if they say nothing. */
struct guest_signs {
    char *reason; /* owned by the caller (free) */
    const char *hint;
};

/* Reads them; the connection may be a read-only one. `root` is the directory "/" of the
 * host; `was_heard` says that the guest has reported something. */
void guest_signs_read(struct guest_signs *signs, virDomainPtr domain, int root,
                      bool was_heard);
