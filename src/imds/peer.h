/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who sent a request. */
#pragma once

#include "host/imds-tree.h"
#include "host/libvirt-host.h"
#include "imds/socket.h"

/* Sockets to ask the kernel who owns a socket of this host (sock_diag(7)), and which MAC
 * receives the answers (rtnetlink(7)). Neither needs a privilege. */
struct netlink {
    struct mnl_socket *diagnosis; /* NETLINK_SOCK_DIAG; owned */
    struct mnl_socket *routing;   /* NETLINK_ROUTE; owned */
    unsigned int sequence;
};

#define NETLINK_NONE ((struct netlink){.diagnosis = NULL})

/* Return: 0 or -errno. */
int netlink_open(struct netlink *netlink);
void netlink_close(struct netlink *netlink);

/* Return: whether the kernel can tell who owns a socket, such as `fd`, which listens. */
bool netlink_knows_sockets(struct netlink *netlink, int fd);

/* --- who it is -------------------------------------------------------------------- */

enum peer_kind {
    PEER_QEMU,      /* a socket of QEMU's user on this host */
    PEER_NEIGHBOUR, /* a machine on a link, with a MAC */
    PEER_OTHER,     /* may not read anything */
};

struct peer {
    enum peer_kind kind;
    char mac[IMDS_MAC_LENGTH + 1]; /* of PEER_NEIGHBOUR */
    const char *reason;            /* of PEER_OTHER: the reason, for the log */
    bool local;                    /* it is a socket of this host, of the user `owner` */
    uid_t owner;
};

#define PEER_NAME (ENDPOINT_TEXT + 32)

/* Identifies the other end of the connected socket `fd`. */
struct peer peer_find(struct netlink *netlink, const struct user *qemu, int fd,
                      const struct endpoint *own, const struct endpoint *other);

/* Writes the peer's name for rate limits: its MAC or user. All others share one name,
 * because addresses cost nothing. */
void peer_name(const struct peer *peer, char name[PEER_NAME]);

/* Writes a description for people, with the address. */
void peer_describe(const struct peer *peer, const struct endpoint *other,
                   char text[PEER_NAME]);
