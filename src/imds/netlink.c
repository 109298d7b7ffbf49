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
union reply {
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
    union reply *reply)
{
    question->nlmsg_flags = NLM_F_REQUEST;
    question->nlmsg_seq = ++netlink->sequence;
    if (send(socket, question, question->nlmsg_len, 0) < 0)
        return -errno;
    for (;;) {
        ssize_t size = recv(socket, reply, sizeof(*reply), 0);

        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return -errno;
        if (!NLMSG_OK(&reply->header, (size_t)size) ||
            reply->header.nlmsg_seq != question->nlmsg_seq)
            continue;
        if (reply->header.nlmsg_type == NLMSG_ERROR) {
            const struct nlmsgerr *error = NLMSG_DATA(&reply->header);

            return error->error < 0 ? error->error : -EPROTO;
        }
        return reply->header.nlmsg_type == type ? 0 : -EPROTO;
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
find_attribute(const union reply *reply, size_t header, unsigned short type, size_t size)
{
    size_t before = NLMSG_LENGTH(NLMSG_ALIGN(header));
    const struct rtattr *attribute =
        (const struct rtattr *)(reply->bytes + NLMSG_ALIGN(before));
    ssize_t rest = (ssize_t)reply->header.nlmsg_len - (ssize_t)NLMSG_ALIGN(before);

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
    union reply reply = {.bytes = ""};
    int error;

    memcpy(question.body.id.idiag_src, &local->address, endpoint_address_size(local));
    memcpy(question.body.id.idiag_dst, &remote->address, endpoint_address_size(remote));
    error =
        ask(netlink, netlink->diagnosis, &question.header, SOCK_DIAG_BY_FAMILY, &reply);
    if (error < 0)
        return error;
    if (reply.header.nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
        return -EPROTO;
    memcpy(found, NLMSG_DATA(&reply.header), sizeof(*found));
    return 0;
}

/* A socket of IPv6 may have the other end's IPv4 address mapped. */
static bool
leads_to(const struct inet_diag_msg *found, const struct endpoint *remote)
{
    struct in6_addr address;
    const uint8_t *bytes = address.s6_addr;

    memcpy(&address, found->id.idiag_dst, sizeof(address));
    if (found->idiag_family != remote->family) {
        if (!IN6_IS_ADDR_V4MAPPED(&address))
            return false;
        bytes += sizeof(address) - sizeof(struct in_addr);
    }
    return memcmp(bytes, &remote->address, endpoint_address_size(remote)) == 0 &&
           found->id.idiag_dport == htons(remote->port);
}

/*
 * The kernel gives a listening socket where none is connected. Any process can have one that
 * begins to connect from an address of another machine (IPV6_FREEBIND); it never comes to be
 * connected, since the answer goes there. One that its process has closed has no inode, and
 * root for its owner.
 */
static bool
is_connected(const struct inet_diag_msg *found, const struct endpoint *remote)
{
    return found->idiag_state != TCP_LISTEN && found->idiag_state != TCP_SYN_SENT &&
           found->idiag_inode != 0 && leads_to(found, remote);
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

/* Return: a number that the socket has as an option, or 0. */
static unsigned int
option(int fd, int name)
{
    unsigned int value = 0;
    socklen_t size = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &size) < 0 ? 0 : value;
}

bool
netlink_knows_sockets(struct netlink *netlink, int fd, const struct endpoint *listener)
{
    const struct endpoint nobody = {.family = listener->family};
    struct endpoint bound = *listener;
    struct inet_diag_msg found;

    bound.device = option(fd, SO_BINDTOIFINDEX);
    return ask_for_socket(netlink, &bound, &nobody, &found) == 0;
}

/* --- neighbours ------------------------------------------------------------------- */

static void
add_number(struct nlmsghdr *message, unsigned short type, uint32_t number)
{
    if (number != 0)
        add_attribute(message, type, &number, sizeof(number));
}

/* What rules and routes may go by. */
static void
add_connection(struct nlmsghdr *question, int fd, const struct endpoint *from,
               const struct endpoint *to)
{
    const uint8_t protocol = IPPROTO_TCP;
    const uint16_t source = htons(from->port);
    const uint16_t destination = htons(to->port);
    unsigned int device = option(fd, SO_BINDTOIFINDEX);

    add_attribute(question, RTA_DST, &to->address, endpoint_address_size(to));
    add_attribute(question, RTA_SRC, &from->address, endpoint_address_size(from));
    add_attribute(question, RTA_IP_PROTO, &protocol, sizeof(protocol));
    add_attribute(question, RTA_SPORT, &source, sizeof(source));
    add_attribute(question, RTA_DPORT, &destination, sizeof(destination));
    add_number(question, RTA_MARK, option(fd, SO_MARK));
    add_number(question, RTA_OIF, device != 0 ? device : to->device);
}

static int
find_route(struct netlink *netlink, int fd, const struct endpoint *from,
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
    union reply reply = {.bytes = ""};
    int error;

    add_connection(&question.header, fd, from, to);
    error = ask(netlink, netlink->routing, &question.header, RTM_NEWROUTE, &reply);
    if (error < 0)
        return error;
    route = NLMSG_DATA(&reply.header);
    oif = find_attribute(&reply, sizeof(*route), RTA_OIF, sizeof(*oif));
    if (route->rtm_type == RTN_LOCAL)
        return -EADDRINUSE;
    if (route->rtm_type != RTN_UNICAST || !oif ||
        find_attribute(&reply, sizeof(*route), RTA_GATEWAY, size) ||
        find_attribute(&reply, sizeof(*route), RTA_VIA, sizeof(struct rtvia) + 16))
        return -ENETUNREACH;
    *device = *oif;
    return 0;
}

int
netlink_neighbour(struct netlink *netlink, int fd, const struct endpoint *from,
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
    union reply reply = {.bytes = ""};
    int error = find_route(netlink, fd, from, to, &device);

    if (error < 0)
        return error;
    question.body.ndm_ifindex = (int)device;
    add_attribute(&question.header, NDA_DST, &to->address, endpoint_address_size(to));
    error = ask(netlink, netlink->routing, &question.header, RTM_NEWNEIGH, &reply);
    if (error < 0)
        return error;
    neighbour = NLMSG_DATA(&reply.header);
    found = find_attribute(&reply, sizeof(*neighbour), NDA_LLADDR, ETHERNET_ADDRESS);
    if (!found || neighbour->ndm_state & (NUD_FAILED | NUD_INCOMPLETE | NUD_NOARP))
        return -ENOENT;
    snprintf(mac, NETLINK_MAC, "%02x:%02x:%02x:%02x:%02x:%02x", found[0], found[1],
             found[2], found[3], found[4], found[5]);
    return 0;
}
