/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>
#if HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/inet.h"
#include "imds/socket.h"

struct endpoint
endpoint_read(const struct sockaddr *address)
{
    struct endpoint endpoint = {0};

    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;

        endpoint.family = AF_INET;
        endpoint.address.ipv4 = ipv4->sin_addr;
        endpoint.port = ntohs(ipv4->sin_port);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;

        endpoint.port = ntohs(ipv6->sin6_port);
        if (IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr)) {
            endpoint.family = AF_INET;
            memcpy(&endpoint.address.ipv4, &ipv6->sin6_addr.s6_addr[12], 4);
        } else {
            endpoint.family = AF_INET6;
            endpoint.address.ipv6 = ipv6->sin6_addr;
            endpoint.device = ipv6->sin6_scope_id;
        }
    }
    return endpoint;
}

struct endpoint
endpoint_own(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);

    getsockname(fd, (struct sockaddr *)&address, &size);
    return endpoint_read((const struct sockaddr *)&address);
}

size_t
endpoint_address_size(const struct endpoint *endpoint)
{
    return endpoint->family == AF_INET ? 4 : 16;
}

bool
endpoint_same_address(const struct endpoint *one, const struct endpoint *other)
{
    return one->family == other->family && one->device == other->device &&
           memcmp(one->address.bytes, other->address.bytes, endpoint_address_size(one)) ==
               0;
}

bool
endpoint_is_loopback(const struct endpoint *endpoint)
{
    if (endpoint->family == AF_INET)
        return endpoint->address.bytes[0] == 127;
    return endpoint->family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&endpoint->address.ipv6);
}

void
endpoint_format(const struct endpoint *endpoint, bool port, char text[ENDPOINT_TEXT])
{
    char address[INET6_ADDRSTRLEN] = "?";
    char device[16] = "";
    char after[8] = "";
    bool brackets = port && endpoint->family == AF_INET6;

    inet_ntop(endpoint->family, endpoint->address.bytes, address, sizeof(address));
    if (endpoint->family == AF_INET6 && endpoint->device != 0)
        snprintf(device, sizeof(device), "%%%u", endpoint->device);
    if (port)
        snprintf(after, sizeof(after), ":%u", endpoint->port);
    snprintf(text, ENDPOINT_TEXT, "%s%s%s%s%s", brackets ? "[" : "", address, device,
             brackets ? "]" : "", after);
}

/* --- listening -------------------------------------------------------------------- */

/* For guests that boot at the same time; the kernel limits it to net.core.somaxconn. */
#define BACKLOG 4096

static int
fail_count(struct failure **failure)
{
    return failure_set(failure, FAILURE_USAGE,
                       "more than %d addresses to listen on\n"
                       "one address serves all bridges; see virt-seed-imds(8)",
                       LIMIT_IMDS_LISTENERS);
}

/* Adds the listening socket. Return: 0 or -errno. */
static int
add_listener(struct listeners *listeners, int fd)
{
    const int sending = LIMIT_IMDS_SEND_BUFFER;
    const int receiving = LIMIT_IMDS_RECEIVE_BUFFER;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    /* Connections inherit these sizes, which limit the kernel's memory for a guest that
     * does not read or sends too much. */
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sending, sizeof(sending)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receiving, sizeof(receiving)) < 0)
        return -errno;
    listeners->fds[listeners->count++] = fd;
    return 0;
}

int
listeners_inherit(struct listeners *listeners, struct failure **failure)
{
#if HAVE_LIBSYSTEMD
    int count = sd_listen_fds(1);

    if (count > LIMIT_IMDS_LISTENERS)
        return fail_count(failure);
    for (int i = 0; i < count; i++) {
        int fd = SD_LISTEN_FDS_START + i;
        int error = 0;

        if (sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, 0) <= 0)
            return failure_set(
                failure, FAILURE_SYSTEM,
                "descriptor %d from systemd is not a listening TCP socket\n"
                "check ListenStream= and Accept= in virt-seed-imds.socket",
                fd);
        error = add_listener(listeners, fd);
        if (error < 0)
            return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                     "could not use the socket from systemd");
    }
#endif
    return 0;
}

/* Adds a hint for an address that cannot be bound. */
static int
hint_at_error(int error, const char *text, int port, struct failure **failure)
{
    static const char own[] = VIRT_SEED_IMDS_ADDRESS ":";

    if (error == -EADDRINUSE)
        return failure_hint(
            failure,
            "find out what uses it: ss -ltnp 'sport = :%d'; let a web server listen on "
            "its own address instead of all, or --listen on another port",
            port);
    if (error == -EADDRNOTAVAIL && strncmp(text, own, strlen(own)) == 0)
        return failure_hint(
            failure,
            "no interface has that address; to add it to lo, run: systemctl start "
            "virt-seed-imds-address");
    return failure_hint(failure, "listen on an address of this host, and on a port that "
                                 "you may use; see virt-seed-imds(8)");
}

/* Return: a listening socket, owned by the caller, or -errno. */
static int
open_listener(const struct sockaddr *address, socklen_t size)
{
    cleanup_close int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
        return -errno;
    if (address->sa_family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
        return -errno;
    if (bind(fd, address, size) < 0 || listen(fd, BACKLOG) < 0)
        return -errno;
    return steal_fd(fd);
}

int
listeners_add(struct listeners *listeners, const char *text, struct failure **failure)
{
    union inet_address address;
    int port;
    socklen_t size = inet_address_read(&address, text, &port);
    cleanup_close int fd = -1;
    int error;

    if (size == 0 || port < 0)
        return failure_set(failure, FAILURE_USAGE,
                           "'%s' is not an address to listen on, expected ADDRESS:PORT\n"
                           "for example " VIRT_SEED_IMDS_ADDRESS ":80 or [fd00::1]:80",
                           text);
    if (listeners->count == LIMIT_IMDS_LISTENERS)
        return fail_count(failure);
    fd = open_listener(&address.any, size);
    error = fd < 0 ? fd : add_listener(listeners, fd);
    if (error == 0) {
        (void)steal_fd(fd);
        return 0;
    }
    failure_set_errno(failure, FAILURE_SYSTEM, error, "could not listen on %s", text);
    return hint_at_error(error, text, port, failure);
}

void
listeners_close(struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        close(listeners->fds[i]);
    listeners->count = 0;
}
