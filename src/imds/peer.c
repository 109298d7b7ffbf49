/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "imds/peer.h"

static struct peer
nobody(const char *reason)
{
    return (struct peer){.kind = PEER_OTHER, .reason = reason};
}

struct peer
peer_find(struct netlink *netlink, const struct qemu_user *qemu, int fd,
          const struct endpoint *own, const struct endpoint *other)
{
    struct peer peer = {.kind = PEER_NEIGHBOUR};
    uid_t owner;
    int error;

    if (netlink_socket_owner(netlink, other, own, &owner) == 0) {
        if (!qemu->known)
            peer = nobody("nobody knows which user QEMU runs as: " VIRT_SEED_QEMU_HOME
                          " is not there");
        else if (owner != qemu->uid)
            peer = nobody("a process of this host, but not of QEMU's user");
        else
            peer.kind = PEER_QEMU;
        peer.local = true;
        peer.owner = owner;
        return peer;
    }
    error = netlink_neighbour(netlink, fd, own, other, peer.mac);
    if (error == 0)
        return peer;
    if (error == -EADDRINUSE)
        return nobody("a process of this host that has gone, or that the kernel does "
                      "not tell of");
    if (error == -ENETUNREACH)
        return nobody("not on a link of this host");
    return nobody("the kernel knows no MAC of it");
}

void
peer_name(const struct peer *peer, char name[PEER_NAME])
{
    if (peer->kind == PEER_NEIGHBOUR)
        snprintf(name, PEER_NAME, "%s", peer->mac);
    else if (peer->local)
        snprintf(name, PEER_NAME, "uid %lu", (unsigned long)peer->owner);
    else
        snprintf(name, PEER_NAME, "others");
}

void
peer_describe(const struct peer *peer, const struct endpoint *other, char text[PEER_NAME])
{
    size_t length;

    endpoint_format(other, false, text);
    length = strlen(text);
    if (peer->kind == PEER_NEIGHBOUR)
        snprintf(text + length, PEER_NAME - length, " (%s)", peer->mac);
    else if (peer->local)
        snprintf(text + length, PEER_NAME - length, " (uid %lu)",
                 (unsigned long)peer->owner);
}
