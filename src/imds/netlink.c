/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "imds/netlink.h"

/* The kernel answers while it is asked; this is for one that does not. */
#define ANSWER_SECONDS 1

#define ETHERNET_ADDRESS 6

int
netlink_open(struct netlink *netlink)
{
    const struct timeval patience = {.tv_sec = ANSWER_SECONDS};

    *netlink = NETLINK_NONE;
    netlink->diagnosis = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink->diagnosis < 0)
        return -errno;
    netlink->routing = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (netlink->routing < 0)
        return -errno;
    setsockopt(netlink->diagnosis, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(netlink->routing, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return 0;
}

void
netlink_close(struct netlink *netlink)
{
    if (netlink->diagnosis >= 0)
        close(netlink->diagnosis);
    if (netlink->routing >= 0)
        close(netlink->routing);
    *netlink = NETLINK_NONE;
}

/* --- questions and answers -------------------------------------------------------- */

/* Room for any answer to one question; they have some hundred bytes. */
union answer {
    struct nlmsghdr header;
    char bytes[2048];
};

/*
 * Sends the question and waits for the message that answers it; what answers an earlier one,
 * which took too long, is passed over.
 * Return: 0 or -errno, also where the kernel answers with an error.
 */
static int
ask(struct netlink *netlink, int socket, struct nlmsghdr *question, unsigned short type,
    union answer *answer)
{
    question->nlmsg_flags = NLM_F_REQUEST;
    question->nlmsg_seq = ++netlink->sequence;
    if (send(socket, question, question->nlmsg_len, 0) < 0)
        return -errno;
    for (;;) {
        ssize_t size = recv(socket, answer, sizeof(*answer), 0);

        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return -errno;
        if (!NLMSG_OK(&answer->header, (size_t)size) ||
            answer->header.nlmsg_seq != question->nlmsg_seq)
            continue;
        if (answer->header.nlmsg_type == NLMSG_ERROR) {
            const struct nlmsgerr *error = NLMSG_DATA(&answer->header);

            return error->error < 0 ? error->error : -EPROTO;
        }
        return answer->header.nlmsg_type == type ? 0 : -EPROTO;
    }
}

/* Adds an attribute to the message, which has room for it. */
static void
add_attribute(struct nlmsghdr *message, unsigned short type, const void *data,
              size_t size)
{
    struct rtattr *attribute =
        (struct rtattr *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

    attribute->rta_type = type;
    attribute->rta_len = (unsigned short)RTA_LENGTH(size);
    memcpy(RTA_DATA(attribute), data, size);
    message->nlmsg_len =
        (unsigned int)(NLMSG_ALIGN(message->nlmsg_len) + RTA_SPACE(size));
}

/* Return: the attribute of that type with that many bytes behind the answer's own `size`
 * bytes, or NULL. */
static const void *
find_attribute(const union answer *answer, size_t header, unsigned short type,
               size_t size)
{
    size_t before = NLMSG_LENGTH(NLMSG_ALIGN(header));
    const struct rtattr *attribute =
        (const struct rtattr *)(answer->bytes + NLMSG_ALIGN(before));
    ssize_t rest = (ssize_t)answer->header.nlmsg_len - (ssize_t)NLMSG_ALIGN(before);

    for (; RTA_OK(attribute, rest); attribute = RTA_NEXT(attribute, rest)) {
        if (attribute->rta_type == type && RTA_PAYLOAD(attribute) == size)
            return RTA_DATA(attribute);
    }
    return NULL;
}

/* --- sockets of this host --------------------------------------------------------- */

static int
ask_for_socket(struct netlink *netlink, const struct endpoint *local,
               const struct endpoint *remote, struct inet_diag_msg *found)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 body;
    } question = {
        .header = {.nlmsg_len = sizeof(question), .nlmsg_type = SOCK_DIAG_BY_FAMILY},
        .body = {.sdiag_family = (uint8_t)local->family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = ~0U,
                 .id = {.idiag_sport = htons(local->port),
                        .idiag_dport = htons(remote->port),
                        .idiag_if = local->device,
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    union answer answer = {.bytes = ""};
    int error;

    memcpy(question.body.id.idiag_src, &local->address, endpoint_address_size(local));
    memcpy(question.body.id.idiag_dst, &remote->address, endpoint_address_size(remote));
    error =
        ask(netlink, netlink->diagnosis, &question.header, SOCK_DIAG_BY_FAMILY, &answer);
    if (error < 0)
        return error;
    if (answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
        return -EPROTO;
    memcpy(found, NLMSG_DATA(&answer.header), sizeof(*found));
    return 0;
}

/* The kernel gives a listening socket where none is connected. One that its process has
 * closed has no inode, and root for its owner. */
static bool
is_connected(const struct inet_diag_msg *found, const struct endpoint *remote)
{
    return found->idiag_state != TCP_LISTEN && found->idiag_inode != 0 &&
           found->id.idiag_dport == htons(remote->port) &&
           memcmp(found->id.idiag_dst, &remote->address, endpoint_address_size(remote)) ==
               0;
}

int
netlink_socket_owner(struct netlink *netlink, const struct endpoint *local,
                     const struct endpoint *remote, uid_t *owner)
{
    struct inet_diag_msg found;
    int error = ask_for_socket(netlink, local, remote, &found);

    if (error < 0)
        return error;
    if (!is_connected(&found, remote))
        return -ENOENT;
    *owner = found.idiag_uid;
    return 0;
}

bool
netlink_knows_sockets(struct netlink *netlink, const struct endpoint *listener)
{
    const struct endpoint nobody = {.family = listener->family};
    struct inet_diag_msg found;

    return ask_for_socket(netlink, listener, &nobody, &found) == 0;
}

/* --- neighbours ------------------------------------------------------------------- */

static int
find_route(struct netlink *netlink, const struct endpoint *from,
           const struct endpoint *to, unsigned int *device)
{
    size_t size = endpoint_address_size(to);
    struct {
        struct nlmsghdr header;
        struct rtmsg body;
        char attributes[128];
    } question = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
                   .nlmsg_type = RTM_GETROUTE},
        .body = {.rtm_family = (unsigned char)to->family,
                 .rtm_dst_len = (unsigned char)(size * 8),
                 .rtm_src_len = (unsigned char)(size * 8)},
    };
    const struct rtmsg *route;
    const unsigned int *oif;
    union answer answer = {.bytes = ""};
    int error;

    add_attribute(&question.header, RTA_DST, &to->address, size);
    add_attribute(&question.header, RTA_SRC, &from->address, size);
    if (to->device != 0)
        add_attribute(&question.header, RTA_OIF, &to->device, sizeof(to->device));
    error = ask(netlink, netlink->routing, &question.header, RTM_NEWROUTE, &answer);
    if (error < 0)
        return error;
    route = NLMSG_DATA(&answer.header);
    oif = find_attribute(&answer, sizeof(*route), RTA_OIF, sizeof(*oif));
    if (route->rtm_type == RTN_LOCAL)
        return -EADDRINUSE;
    if (route->rtm_type != RTN_UNICAST || !oif ||
        find_attribute(&answer, sizeof(*route), RTA_GATEWAY, size) ||
        find_attribute(&answer, sizeof(*route), RTA_VIA, sizeof(struct rtvia) + 16))
        return -ENETUNREACH;
    *device = *oif;
    return 0;
}

int
netlink_neighbour(struct netlink *netlink, const struct endpoint *from,
                  const struct endpoint *to, char mac[NETLINK_MAC])
{
    struct {
        struct nlmsghdr header;
        struct ndmsg body;
        char attributes[64];
    } question = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ndmsg)),
                   .nlmsg_type = RTM_GETNEIGH},
        .body = {.ndm_family = (unsigned char)to->family},
    };
    const struct ndmsg *neighbour;
    const unsigned char *found;
    unsigned int device = 0;
    union answer answer = {.bytes = ""};
    int error = find_route(netlink, from, to, &device);

    if (error < 0)
        return error;
    question.body.ndm_ifindex = (int)device;
    add_attribute(&question.header, NDA_DST, &to->address, endpoint_address_size(to));
    error = ask(netlink, netlink->routing, &question.header, RTM_NEWNEIGH, &answer);
    if (error < 0)
        return error;
    neighbour = NLMSG_DATA(&answer.header);
    found = find_attribute(&answer, sizeof(*neighbour), NDA_LLADDR, ETHERNET_ADDRESS);
    if (!found || neighbour->ndm_state & (NUD_FAILED | NUD_INCOMPLETE | NUD_NOARP))
        return -ENOENT;
    snprintf(mac, NETLINK_MAC, "%02x:%02x:%02x:%02x:%02x:%02x", found[0], found[1],
             found[2], found[3], found[4], found[5]);
    return 0;
}
