/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: of two sockets that may be bound to one address, none may listen
 * (SO_REUSEADDR, socket(7)). So where ours can be bound, nobody listens; it is in the way of
 * none that is about to and has that option, as systemd's sockets have and the server's own.
 */
#include "config.h"

#include <stdbool.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/inet.h"
#include "base/memory.h"
#include "domain/seed-url.h"
#include "store/listening.h"

/* The address may be put on its interface later (IP_FREEBIND, ip(7)). */
static bool
set_options(int fd, int family)
{
    const int on = 1;
    int level = family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    int option = family == AF_INET6 ? IPV6_FREEBIND : IP_FREEBIND;

    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
           setsockopt(fd, level, option, &on, sizeof(on)) == 0;
}

static bool
can_be_bound(const union inet_address *address, socklen_t size)
{
    cleanup_close int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd >= 0 && set_options(fd, address->any.sa_family) &&
           bind(fd, &address->any, size) == 0;
}

int
listening_check(const char *url_address, struct failure **failure)
{
    union inet_address address;
    cleanup_free char *where = NULL;
    int port;
    socklen_t size = inet_address_read(&address, url_address, &port);

    if (size == 0)
        return 0;
    if (port < 0)
        inet_address_set_port(&address, SEED_URL_PORT);
    if (!can_be_bound(&address, size))
        return 0;
    where = port < 0 ? xasprintf("%s, port %d", url_address, SEED_URL_PORT)
                     : xstrdup(url_address);
    failure_set(
        failure, FAILURE_IMDS,
        "asks for datasource=\"nocloud-net\", and nobody listens at %s: the guest "
        "would come up as a new machine",
        where);
    return failure_hint(failure, "start the metadata server: systemctl enable --now "
                                 "virt-seed-imds.socket virt-seed-imds.service; where it "
                                 "listens, see virt-seed-imds(8)");
}
