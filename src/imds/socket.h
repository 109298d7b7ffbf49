/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ends of TCP connections, and the sockets that the server listens on, its own or
 * systemd's. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"

struct endpoint {
    int family; /* AF_INET or AF_INET6; 0 if it is neither */
    union {
        struct in_addr ipv4;
        struct in6_addr ipv6;
        unsigned char bytes[16];
    } address;
    uint16_t port;       /* in the host's byte order */
    unsigned int device; /* index of the interface that the address is scoped to, or 0 */
};

/* "[fe80::...%4294967295]:65535" and a NUL. */
#define ENDPOINT_TEXT 80

/* Reads an address from accept(2) or getsockname(2). A mapped IPv4 address becomes
 * IPv4. */
struct endpoint endpoint_read(const struct sockaddr *address);
/* Return: the socket's own end. */
struct endpoint endpoint_own(int fd);

/* Return: the size of the family's addresses, in bytes. */
size_t endpoint_address_size(const struct endpoint *endpoint);

bool endpoint_same_address(const struct endpoint *one, const struct endpoint *other);
bool endpoint_is_loopback(const struct endpoint *endpoint);

/* Writes the address, with the port if `port` is set. */
void endpoint_format(const struct endpoint *endpoint, bool port,
                     char text[ENDPOINT_TEXT]);

/* --- listening -------------------------------------------------------------------- */

struct listeners {
    int fds[LIMIT_IMDS_LISTENERS]; /* owned */
    size_t count;
};

/* Adds the sockets passed by socket activation (sd_listen_fds(3)), if any. */
int listeners_inherit(struct listeners *listeners, struct failure **failure);

/* Adds a socket that listens on "ADDRESS:PORT" or "[ADDRESS]:PORT"; port 0 is any free
 * one. */
int listeners_add(struct listeners *listeners, const char *text,
                  struct failure **failure);

void listeners_close(struct listeners *listeners);

#define cleanup_listeners __attribute__((cleanup(listeners_close)))
