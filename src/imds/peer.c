/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include "imds/peer.h"

/* The kernel normally answers at once; this is a safeguard. */
#define ANSWER_SECONDS 1

#define ETHERNET_ADDRESS 6

/* Enough for any question or answer here, which take a few hundred bytes. */
union message {
    struct nlmsghdr header;
    char bytes[2048];
};

static struct mnl_socket *
open_socket(int protocol)
{
    const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
    struct mnl_socket *socket = mnl_socket_open2(protocol, SOCK_CLOEXEC);

    if (socket)
        setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVTIMEO, &patience,
                   sizeof(patience));
    return socket;
}

int
netlink_open(struct netlink *netlink)
{
    *netlink = (struct netlink){.diagnosis = open_socket(NETLINK_SOCK_DIAG)};
    if (netlink->diagnosis)
        netlink->routing = open_socket(NETLINK_ROUTE);
    return netlink->routing ? 0 : -errno;
}

void
netlink_close(struct netlink *netlink)
{
    if (netlink->diagnosis)
        mnl_socket_close(netlink->diagnosis);
    if (netlink->routing)
        mnl_socket_close(netlink->routing);
    *netlink = NETLINK_NONE;
}

/* Begins a question. Return: its payload of `size` bytes, zeroed. */
static void *
begin(union message *question, unsigned short type, size_t size)
{
    mnl_nlmsg_put_header(question)->nlmsg_type = type;
    return mnl_nlmsg_put_extra_header(&question->header, size);
}

/*
 * Sends the question and waits for its answer of that type, with a payload of at least
 * `size` bytes; skips late answers to earlier questions. Return: 0 or -errno, also if the
 * kernel answers with an error.
 */
static int
ask(struct netlink *netlink, struct mnl_socket *socket, union message *question,
    unsigned short type, size_t size, union message *reply)
{
    const struct nlmsghdr *header = &reply->header;

    question->header.nlmsg_flags = NLM_F_REQUEST;
    question->header.nlmsg_seq = ++netlink->sequence;
    if (mnl_socket_sendto(socket, question, question->header.nlmsg_len) < 0)
        return -errno;
    for (;;) {
        ssize_t count = mnl_socket_recvfrom(socket, reply, sizeof(*reply));

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        if (!mnl_nlmsg_ok(header, (int)count) ||
            !mnl_nlmsg_seq_ok(header, netlink->sequence))
            continue;
        if (header->nlmsg_type == NLMSG_ERROR &&
            mnl_nlmsg_get_payload_len(header) >= sizeof(struct nlmsgerr)) {
            const struct nlmsgerr *error = mnl_nlmsg_get_payload(header);

            return error->error < 0 ? error->error : -EPROTO;
        }
        if (header->nlmsg_type != type || mnl_nlmsg_get_payload_len(header) < size)
            return -EPROTO;
        return 0;
    }
}

/* Return: the attribute of that type and size, after the reply's `header` bytes, or
 * NULL. */
static const void *
find_attribute(const union message *reply, size_t header, unsigned short type,
               size_t size)
{
    const struct nlattr *attribute;

    mnl_attr_for_each(attribute, &reply->header, header)
    {
        if (mnl_attr_get_type(attribute) == type &&
            mnl_attr_get_payload_len(attribute) == size)
            return mnl_attr_get_payload(attribute);
    }
    return NULL;
}

/* --- sockets of this host --------------------------------------------------------- */

static int
ask_for_socket(struct netlink *netlink, const struct endpoint *local,
               const struct endpoint *remote, struct inet_diag_msg *found)
{
    union message question, reply;
    struct inet_diag_req_v2 *request =
        begin(&question, SOCK_DIAG_BY_FAMILY, sizeof(*request));
    int error;

    request->sdiag_family = (uint8_t)local->family;
    request->sdiag_protocol = IPPROTO_TCP;
    request->idiag_states = ~0U;
    request->id.idiag_sport = htons(local->port);
    request->id.idiag_dport = htons(remote->port);
    request->id.idiag_if = local->device;
    memset(request->id.idiag_cookie, 0xff, sizeof(request->id.idiag_cookie));
    memcpy(request->id.idiag_src, &local->address, endpoint_address_size(local));
    memcpy(request->id.idiag_dst, &remote->address, endpoint_address_size(remote));
    error = ask(netlink, netlink->diagnosis, &question, SOCK_DIAG_BY_FAMILY,
                sizeof(*found), &reply);
    if (error == 0)
        memcpy(found, mnl_nlmsg_get_payload(&reply.header), sizeof(*found));
    return error;
}

/*
 * Finds the owner of this host's socket that has the address `local`, is connected to
 * `remote`, and still belongs to a process. Return: 0; -ENOENT if there is none; another
 * -errno.
 */
static int
find_socket_owner(struct netlink *netlink, const struct endpoint *local,
                  const struct endpoint *remote, uid_t *owner)
{
    struct inet_diag_msg found;
    struct in6_addr address;
    const uint8_t *bytes = address.s6_addr;
    int error = ask_for_socket(netlink, local, remote, &found);

    if (error != 0)
        return error;
    /*
     * Without a connected socket, the kernel returns a listening one. Any process can
     * begin to connect from another machine's address (IPV6_FREEBIND), but never gets
     * connected, because the answer goes to that machine. A socket closed by its process
     * has no inode, and root as its owner.
     */
    if (found.idiag_state == TCP_LISTEN || found.idiag_state == TCP_SYN_SENT ||
        found.idiag_inode == 0 || found.id.idiag_dport != htons(remote->port))
        return -ENOENT;
    memcpy(&address, found.id.idiag_dst, sizeof(address));
    /* An IPv6 socket may have the other end's IPv4 address mapped. */
    if (found.idiag_family != remote->family) {
        if (!IN6_IS_ADDR_V4MAPPED(&address))
            return -ENOENT;
        bytes += sizeof(address) - sizeof(struct in_addr);
    }
    if (memcmp(bytes, &remote->address, endpoint_address_size(remote)) != 0)
        return -ENOENT;
    *owner = found.idiag_uid;
    return 0;
}

/* Return: the value of a numeric socket option, or 0. */
static unsigned int
socket_option(int fd, int name)
{
    unsigned int value = 0;
    socklen_t size = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &size) < 0 ? 0 : value;
}

bool
netlink_knows_sockets(struct netlink *netlink, int fd)
{
    struct endpoint bound = endpoint_own(fd);
    const struct endpoint nobody = {.family = bound.family};
    struct inet_diag_msg found;

    bound.device = socket_option(fd, SO_BINDTOIFINDEX);
    return ask_for_socket(netlink, &bound, &nobody, &found) == 0;
}

/* --- neighbours ------------------------------------------------------------------- */

static int
find_route(struct netlink *netlink, int fd, const struct endpoint *from,
           const struct endpoint *to, unsigned int *device)
{
    const size_t size = endpoint_address_size(to);
    const unsigned int bound = socket_option(fd, SO_BINDTOIFINDEX);
    const unsigned int mark = socket_option(fd, SO_MARK);
    union message question, reply;
    struct nlmsghdr *header = &question.header;
    struct rtmsg *route = begin(&question, RTM_GETROUTE, sizeof(*route));
    const unsigned int *oif;
    int error;

    /* Everything that rules and routes may depend on. */
    route->rtm_family = (unsigned char)to->family;
    route->rtm_dst_len = route->rtm_src_len = (unsigned char)(size * 8);
    mnl_attr_put(header, RTA_DST, size, &to->address);
    mnl_attr_put(header, RTA_SRC, size, &from->address);
    mnl_attr_put_u8(header, RTA_IP_PROTO, IPPROTO_TCP);
    mnl_attr_put_u16(header, RTA_SPORT, htons(from->port));
    mnl_attr_put_u16(header, RTA_DPORT, htons(to->port));
    if (mark != 0)
        mnl_attr_put_u32(header, RTA_MARK, mark);
    if (bound != 0 || to->device != 0)
        mnl_attr_put_u32(header, RTA_OIF, bound != 0 ? bound : to->device);
    error =
        ask(netlink, netlink->routing, &question, RTM_NEWROUTE, sizeof(*route), &reply);
    if (error < 0)
        return error;
    route = mnl_nlmsg_get_payload(&reply.header);
    oif = find_attribute(&reply, sizeof(*route), RTA_OIF, sizeof(*oif));
    if (route->rtm_type == RTN_LOCAL)
        return -EADDRINUSE;
    if (route->rtm_type != RTN_UNICAST || !oif)
        return -ENETUNREACH;
    if (find_attribute(&reply, sizeof(*route), RTA_GATEWAY, size) ||
        find_attribute(&reply, sizeof(*route), RTA_VIA, sizeof(struct rtvia) + 16))
        return -ENETUNREACH;
    *device = *oif;
    return 0;
}

/*
 * Finds the MAC that receives the packets of the connected socket `fd`, from `from` to
 * `to`, which depends on the socket's device and mark, too. Return: 0; -EADDRINUSE if
 * `to` is this host; -ENETUNREACH if there is a router in between; -ENOENT if the kernel
 * does not know the MAC; another -errno.
 */
static int
find_neighbour(struct netlink *netlink, int fd, const struct endpoint *from,
               const struct endpoint *to, char mac[IMDS_MAC_LENGTH + 1])
{
    union message question, reply;
    struct ndmsg *neighbour = begin(&question, RTM_GETNEIGH, sizeof(*neighbour));
    const unsigned char *found;
    unsigned int device = 0;
    int error = find_route(netlink, fd, from, to, &device);

    if (error < 0)
        return error;
    neighbour->ndm_family = (unsigned char)to->family;
    neighbour->ndm_ifindex = (int)device;
    mnl_attr_put(&question.header, NDA_DST, endpoint_address_size(to), &to->address);
    error = ask(netlink, netlink->routing, &question, RTM_NEWNEIGH, sizeof(*neighbour),
                &reply);
    if (error < 0)
        return error;
    neighbour = mnl_nlmsg_get_payload(&reply.header);
    found = find_attribute(&reply, sizeof(*neighbour), NDA_LLADDR, ETHERNET_ADDRESS);
    if (!found || neighbour->ndm_state & (NUD_FAILED | NUD_INCOMPLETE | NUD_NOARP))
        return -ENOENT;
    snprintf(mac, IMDS_MAC_LENGTH + 1, "%02x:%02x:%02x:%02x:%02x:%02x", found[0],
             found[1], found[2], found[3], found[4], found[5]);
    return 0;
}

/* --- who it is -------------------------------------------------------------------- */

struct peer
peer_find(struct netlink *netlink, const struct user *qemu, int fd,
          const struct endpoint *own, const struct endpoint *other)
{
    struct peer peer = {.kind = PEER_OTHER};
    int error;

    if (find_socket_owner(netlink, other, own, &peer.owner) == 0) {
        peer.local = true;
        if (!qemu->is_known)
            peer.reason = "cannot tell which user QEMU runs as: " VIRT_SEED_QEMU_HOME
                          " does not exist";
        else if (peer.owner != qemu->uid)
            peer.reason = "a process of this host, but not of QEMU's user";
        else
            peer.kind = PEER_QEMU;
        return peer;
    }
    error = find_neighbour(netlink, fd, own, other, peer.mac);
    if (error == 0)
        peer.kind = PEER_NEIGHBOUR;
    else if (error == -EADDRINUSE)
        peer.reason = "a process of this host that has exited, or that the kernel does "
                      "not report";
    else if (error == -ENETUNREACH)
        peer.reason = "not on a link of this host";
    else
        peer.reason = "the kernel does not know its MAC";
    return peer;
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
