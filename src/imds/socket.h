/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ends of TCP connections; and the sockets that the server listens on, its own or
 * those that systemd hands it. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/failure.h"
#include "base/limits.h"

struct endpoint {
    int family; /* AF_INET or AF_INET6; 0 where it is neither */
    union {
        struct in_addr ipv4;
        struct in6_addr ipv6;
        unsigned char bytes[16];
    } address;
    uint16_t port;       /* in the host's byte order */
    unsigned int device; /* index of the interface that the address holds for, or 0 */
};

/* "[fe80::...%4294967295]:65535" and a NUL. */
#define ENDPOINT_TEXT 80

/* Reads what accept(2) or getsockname(2) gave. IPv4 that is mapped into IPv6 becomes
 * IPv4. */
struct endpoint endpoint_read(const struct sockaddr *address);

/* Return: bytes of an address of its family. */
size_t endpoint_address_size(const struct endpoint *endpoint);

bool endpoint_same_address(const struct endpoint *one, const struct endpoint *other);
bool endpoint_is_loopback(const struct endpoint *endpoint);

/* Writes the address, with the port where `port` is set. */
void endpoint_format(const struct endpoint *endpoint, bool port,
                     char text[ENDPOINT_TEXT]);

/* --- listening -------------------------------------------------------------------- */

struct listener {
    int fd; /* owned */
    struct endpoint own;
};

struct listeners {
    struct listener items[LIMIT_IMDS_LISTENERS];
    size_t count;
};

/* Takes what socket activation left (sd_listen_fds(3)), which may be nothing. */
int listeners_inherit(struct listeners *listeners, struct failure **failure);

/* Listens on "ADDRESS:PORT" or "[ADDRESS]:PORT" as well; with port 0 on any free one. */
int listeners_add(struct listeners *listeners, const char *text,
                  struct failure **failure);

void listeners_close(struct listeners *listeners);

#define cleanup_listeners __attribute__((cleanup(listeners_close)))
