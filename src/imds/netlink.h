/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel knows of a connection's other end: whose socket it is, where it is on
 * this host (sock_diag(7)); which MAC gets what we send, where it is not (rtnetlink(7)).
 * Neither needs a privilege.
 */
#pragma once

#include "imds/endpoint.h"

struct netlink {
    struct mnl_socket *diagnosis; /* NETLINK_SOCK_DIAG; owned */
    struct mnl_socket *routing;   /* NETLINK_ROUTE; owned */
    unsigned int sequence;
};

#define NETLINK_NONE ((struct netlink){.diagnosis = NULL})

/* "52:54:00:12:34:56" and a NUL. */
#define NETLINK_MAC 18

/* Return: 0 or -errno. */
int netlink_open(struct netlink *netlink);
void netlink_close(struct netlink *netlink);

/*
 * Finds the socket of this host that has `local` and is connected with `remote`, and still
 * is some process's.
 * Return: 0; -ENOENT where there is none; another -errno.
 */
int netlink_socket_owner(struct netlink *netlink, const struct endpoint *local,
                         const struct endpoint *remote, uid_t *owner);

/*
 * Finds whom the packets of the connected socket `fd`, from `from` to `to`, are handed to on
 * the link: what it is bound to and its mark say it, beside the addresses.
 * Return: 0; -EADDRINUSE where `to` is this host; -ENETUNREACH where a router is in
 * between; -ENOENT where the kernel knows no MAC of it; another -errno.
 */
int netlink_neighbour(struct netlink *netlink, int fd, const struct endpoint *from,
                      const struct endpoint *to, char mac[NETLINK_MAC]);

/* Return: whether the kernel can be asked for the sockets of this host at all; `fd` is one
 * that listens on `listener`. */
bool netlink_knows_sockets(struct netlink *netlink, int fd,
                           const struct endpoint *listener);
