/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: two sockets bound to the same address cannot both listen (SO_REUSEADDR,
 * socket(7)). So if a socket can be bound, nothing is listening. It does not disturb a
 * server that starts listening with that option, as systemd and virt-seed-imds do.
 *
 * systemd's socket listens even if the server cannot start. So the server gets a request,
 * but only if the address belongs to this host: no packet leaves the host, and a cloud's
 * metadata server with the same address is not disturbed. Each step has its own time
 * limit, and a single read takes the answer, so a dead or slow server costs a few seconds
 * at most.
 *
 * Any user may listen on a port of 1024 and above, and answer as the server does. So the
 * kernel is asked who made the sockets that listen there (sock_diag(7)): root, as systemd
 * is, the user of the unit, or the user who asks.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/inet.h"
#include "base/limits.h"
#include "base/memory.h"
#include "store/imds-health.h"
#include "wire/url.h"

#define REQUEST "GET /healthz HTTP/1.1\r\nHost: virt-seed\r\nConnection: close\r\n\r\n"
/* The user of virt-seed-imds.service. */
#define IMDS_USER "virt-seed-imds"
/* An answer begins with the version and the status. */
#define VERSION_LENGTH (sizeof("HTTP/1.1 ") - 1)
#define ANSWER_LENGTH (sizeof("HTTP/1.1 200") - 1)

static bool
can_be_bound(const union inet_address *address, socklen_t size)
{
    const bool ipv6 = address->any.sa_family == AF_INET6;
    const int on = 1;
    cleanup_close int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    /* The address may be added to an interface later (IP_FREEBIND, ip(7)). */
    return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
           setsockopt(fd, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
                      ipv6 ? IPV6_FREEBIND : IP_FREEBIND, &on, sizeof(on)) == 0 &&
           bind(fd, &address->any, size) == 0;
}

/*
 * Connects from the address itself, which works only if it is this host's own.
 * Return: a descriptor, owned by the caller, or -errno.
 */
static int
connect_to(const union inet_address *address, socklen_t size)
{
    const struct timeval patience = {.tv_sec = LIMIT_IMDS_PROBE_SECONDS};
    union inet_address own = *address;
    cleanup_close int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_address_set_port(&own, 0);
    if (fd < 0 || bind(fd, &own.any, size) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
        connect(fd, &address->any, size) < 0)
        return -errno;
    return steal_fd(fd);
}

/* --- whose socket it is -------------------------------------------------------------- */

static bool
is_trusted(uid_t user)
{
    const struct passwd *server =
        user == 0 || user == geteuid() ? NULL : getpwnam(IMDS_USER);

    return user == 0 || user == geteuid() || (server && server->pw_uid == user);
}

/* Return: whether the kernel says that the IPv6 socket takes no IPv4 (IPV6_V6ONLY). */
static bool
is_ipv6_only(const struct nlmsghdr *header)
{
    const struct inet_diag_msg *socket = NLMSG_DATA(header);
    int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof(*socket)));

    for (const struct rtattr *attribute = (const void *)(socket + 1);
         RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == INET_DIAG_SKV6ONLY)
            return *(const uint8_t *)RTA_DATA(attribute);
    }
    return false;
}

/* Return: whether the socket that listens there takes connections to the address. */
static bool
is_for(const struct nlmsghdr *header, const union inet_address *address)
{
    const struct inet_diag_msg *socket = NLMSG_DATA(header);
    const bool ipv4 = address->any.sa_family == AF_INET;
    const void *own = ipv4 ? (const void *)&address->ipv4.sin_addr
                           : (const void *)&address->ipv6.sin6_addr;
    const size_t size = ipv4 ? 4 : 16;
    const unsigned char *bytes = (const unsigned char *)socket->id.idiag_src;
    static const unsigned char none[16];

    if (memcmp(bytes, none, socket->idiag_family == AF_INET ? 4 : 16) == 0)
        return !ipv4 || socket->idiag_family == AF_INET || !is_ipv6_only(header);
    /* An IPv6 socket may have an IPv4 address mapped. */
    if (socket->idiag_family == AF_INET6 && ipv4)
        bytes += 12;
    return (socket->idiag_family == AF_INET6 || ipv4) && memcmp(bytes, own, size) == 0;
}

/*
 * Asks the kernel for the sockets of that family that listen on the address's port; without
 * libmnl, which only the server needs, and a build may lack.
 * Return: the user of the first one for the address that is not trusted; 0 if there is
 * none, or the kernel does not tell.
 */
static uid_t
find_stranger(const union inet_address *address, sa_family_t family)
{
    const struct timeval patience = {.tv_sec = LIMIT_IMDS_PROBE_SECONDS};
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } question = {
        .header = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .request = {.sdiag_family = (uint8_t)family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = 1U << TCP_LISTEN,
                    .id.idiag_sport = address->any.sa_family == AF_INET
                                          ? address->ipv4.sin_port
                                          : address->ipv6.sin6_port},
    };
    _Alignas(struct nlmsghdr) char answer[16 * KIB];
    cleanup_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
        send(fd, &question, sizeof(question), 0) < 0)
        return 0;
    for (;;) {
        ssize_t count = recv(fd, answer, sizeof(answer), 0);
        size_t left = count < 0 ? 0 : (size_t)count;

        if (left == 0)
            return 0;
        for (const struct nlmsghdr *header = (const void *)answer; NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left)) {
            const struct inet_diag_msg *socket = NLMSG_DATA(header);

            if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
                header->nlmsg_len < NLMSG_LENGTH(sizeof(*socket)))
                return 0;
            if (is_for(header, address) && !is_trusted(socket->idiag_uid))
                return socket->idiag_uid;
        }
    }
}

/* --- what it answers ------------------------------------------------------------------ */

static const char another_server[] = "it is another server";

/* Return: NULL if it answers like the metadata server, else what it does instead. */
static const char *
ask(int fd)
{
    char answer[ANSWER_LENGTH + 1] = "";
    ssize_t count = send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL);

    if (count > 0)
        count = recv(fd, answer, ANSWER_LENGTH, 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return "it accepts the connection but sends nothing";
    if (count <= 0)
        return "it closes the connection";
    if (strcmp(answer + VERSION_LENGTH, "503") == 0)
        return "it cannot read the seeds; its log says why";
    return strcmp(answer + VERSION_LENGTH, "200") == 0 ? NULL : another_server;
}

static enum imds_health
silent(const char *where, const char *what, struct failure **failure)
{
    failure_set(failure, FAILURE_IMDS,
                "the metadata server at %s does not answer: %s\n"
                "find out why: systemctl status virt-seed-imds.service; journalctl -u "
                "virt-seed-imds.service",
                where, what);
    return IMDS_SILENT;
}

static enum imds_health
absent(const char *where, struct failure **failure)
{
    failure_set(
        failure, FAILURE_IMDS,
        "nothing is listening at %s\n"
        "start the metadata server: systemctl enable --now virt-seed-imds.socket "
        "virt-seed-imds.service; see virt-seed-imds(8) for the address it should listen "
        "on",
        where);
    return IMDS_ABSENT;
}

enum imds_health
imds_health_ask(const char *url_address, struct failure **failure)
{
    union inet_address address;
    int port;
    const socklen_t size = inet_address_read(&address, url_address, &port);
    cleanup_free char *where = port < 0
                                   ? xasprintf("%s, port %d", url_address, SEED_URL_PORT)
                                   : xstrdup(url_address);
    cleanup_close int fd = -1;
    const char *wrong;
    uid_t stranger;

    /* It is one that seed_url_read_address() or seed_url_parse() has accepted. */
    assert(size > 0);
    if (port < 0)
        port = SEED_URL_PORT;
    inet_address_set_port(&address, port);
    if (can_be_bound(&address, size))
        return absent(where, failure);
    stranger = find_stranger(&address, AF_INET6);
    if (stranger == 0 && address.any.sa_family == AF_INET)
        stranger = find_stranger(&address, AF_INET);
    if (stranger != 0) {
        failure_set(failure, FAILURE_IMDS_USER,
                    "a program of user %u is listening at %s, where guests look for the "
                    "metadata server\n"
                    "find out which one it is, and stop it: ss -ltnpe 'sport = :%d'",
                    stranger, where, port);
        return IMDS_FOREIGN;
    }
    fd = connect_to(&address, size);
    if (fd == -ECONNREFUSED)
        return absent(where, failure);
    if (fd == -EINPROGRESS || fd == -EAGAIN || fd == -ETIMEDOUT)
        return silent(where, "it does not accept the connection", failure);
    if (fd < 0) {
        failure_set_errno(failure, FAILURE_IMDS, fd,
                          "could not query the metadata server at %s\n"
                          "if no interface has the address: systemctl restart "
                          "virt-seed-imds-address.service",
                          where);
        return IMDS_UNKNOWN;
    }
    wrong = ask(fd);
    if (wrong != another_server)
        return wrong ? silent(where, wrong, failure) : IMDS_HEALTHY;
    failure_set(
        failure, FAILURE_IMDS,
        "another server is listening at %s, where guests look for the metadata server\n"
        "find out which one it is, and stop it: ss -ltnp 'sport = :%d'",
        where, port);
    return IMDS_FOREIGN;
}

int
imds_health_check(const char *url_address, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    enum imds_health health = imds_health_ask(url_address, &reason);

    if (health == IMDS_HEALTHY || health == IMDS_UNKNOWN)
        return 0;
    return failure_set(failure, reason->code,
                       "asks for datasource=\"nocloud-net\", but %s: the guest would %s\n"
                       "%s",
                       reason->message,
                       reason->code == FAILURE_IMDS_USER ? "take its seed from it"
                                                         : "come up as a new machine",
                       reason->hint);
}
