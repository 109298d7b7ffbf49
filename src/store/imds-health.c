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
 */
#include "config.h"

#include <errno.h>
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
    socklen_t size = inet_address_read(&address, url_address, &port);
    cleanup_free char *where = port < 0 && size > 0
                                   ? xasprintf("%s, port %d", url_address, SEED_URL_PORT)
                                   : xstrdup(url_address);
    cleanup_close int fd = -1;
    const char *wrong;

    if (size > 0 && port < 0)
        inet_address_set_port(&address, SEED_URL_PORT);
    if (size > 0 && can_be_bound(&address, size))
        return absent(where, failure);
    fd = size > 0 ? connect_to(&address, size) : -EADDRNOTAVAIL;
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
        where, port < 0 ? SEED_URL_PORT : port);
    return IMDS_FOREIGN;
}

int
imds_health_check(const char *url_address, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    enum imds_health health = imds_health_ask(url_address, &reason);

    if (health == IMDS_HEALTHY || health == IMDS_UNKNOWN)
        return 0;
    return failure_set(
        failure, FAILURE_IMDS,
        "asks for datasource=\"nocloud-net\", but %s: the guest would come up as a new "
        "machine\n"
        "%s",
        reason->message, reason->hint);
}
