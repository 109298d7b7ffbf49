/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP addresses as text. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"

union inet_address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
};

/*
 * Reads "192.0.2.1", "192.0.2.1:80", "[fd00::1]" or "[fd00::1]:80"; not a host name, and
 * no scope. `port` is -1 if the text has none.
 * Return: the address's size, for bind(2); 0 if the text is not an address.
 */
socklen_t inet_address_read(union inet_address *address, const char *text, int *port);

/* Sets the port, in the host's byte order. */
void inet_address_set_port(union inet_address *address, int port);

/* The default port of a URL. */
#define HTTP_PORT 80
