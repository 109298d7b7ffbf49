/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host knows about logging in to a guest: where it is, as whom, and by which host
 * keys it is recognized. */
#pragma once

#include <pwd.h>

#include <libvirt/libvirt.h>

#include "cli/cli.h"
#include "domain/domain.h"
#include "domain/request.h"
#include "store/guest-login.h"

struct login_place {
    char address[INET6_ADDRSTRLEN]; /* "" if none is known */
    long port;                      /* 0: sshd's own */
};

/*
 * Finds where this host reaches the guest: at the lease of libvirt's own DHCP server, else
 * at an address that the guest has reported for one of the domain's interfaces, else at a
 * port that passt forwards. `domain` is libvirt's `running`.
 */
void login_find_place(struct login_place *place, virDomainPtr running,
                      const struct domain *domain, const struct guest_login *said);

/* Asks the agent in the guest for it. `running` is of a connection that is not read-only. */
void login_ask_agent(struct login_place *place, virDomainPtr running,
                     const struct domain *domain);

/* Return: who runs the command, under sudo the user who called it; valid until the next call;
 * or NULL. */
const struct passwd *login_find_caller(struct failure **failure);

/* Return: whether the only way to the guest would be a port forwarded to it: each of its
 * interfaces has QEMU's user networking, or passt. */
bool login_needs_forwarding(const struct domain *domain);

/* Return: a line "ALGORITHM BASE64" for each public host key that the guest gets from its
 * seed, owned by the caller (free), or NULL: its own keys are not the host's to know, or the
 * caller may not read them. */
char *login_read_host_keys(const struct context *context, const struct request *request,
                           struct failure **failure);
