/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who asks.
 *
 * How it works: a token in a path is no proof, for every local user can read it in the
 * domain's XML. So the kernel is asked for the other end of the connection. Where that is
 * a socket of this host, it must belong to the user that QEMU runs as: this is how the
 * guests of QEMU's user networking come here. Otherwise it is a machine on one of our
 * links, known by the MAC that our answers go to; whoever has a token but not the MAC
 * does not get them. What comes through a router has no MAC of its own, and is refused.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "imds/socket.h"
#include "store/libvirt-host.h"

/* What the kernel is asked by: for whose a socket of this host is (sock_diag(7)), and for
 * the MAC that gets what we send (rtnetlink(7)). Neither needs a privilege. */
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

/* Return: whether the kernel can be asked for the sockets of this host at all; `fd` is
 * one that listens on `listener`. */
bool netlink_knows_sockets(struct netlink *netlink, int fd,
                           const struct endpoint *listener);

/* --- who it is -------------------------------------------------------------------- */

enum peer_kind {
    PEER_QEMU,      /* a socket of QEMU's user on this host */
    PEER_NEIGHBOUR, /* a machine on a link, with a MAC */
    PEER_OTHER,     /* nobody who may read anything */
};

struct peer {
    enum peer_kind kind;
    char mac[NETLINK_MAC]; /* of PEER_NEIGHBOUR */
    const char *reason;    /* of PEER_OTHER: why, for the log */
    bool local;            /* it is a socket of this host, of the user `owner` */
    uid_t owner;
};
#define PEER_NOBODY                                                                      \
    ((struct peer){.kind = PEER_OTHER, .reason = "nobody asked who it is"})

#define PEER_NAME (ENDPOINT_TEXT + 32)

/* Finds who is at the other end of the connected socket `fd`. */
struct peer peer_find(struct netlink *netlink, const struct qemu_user *qemu, int fd,
                      const struct endpoint *own, const struct endpoint *other);

/* Writes who it is, for limits on what one may do: its MAC or user. Others share a name,
 * for addresses cost nothing. */
void peer_name(const struct peer *peer, char name[PEER_NAME]);

/* Writes the same for people, with the address. */
void peer_describe(const struct peer *peer, const struct endpoint *other,
                   char text[PEER_NAME]);
