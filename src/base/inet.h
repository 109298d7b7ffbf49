/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of TCP, as people write them. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

union inet_address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
};

/*
 * Reads "192.0.2.1", "192.0.2.1:80", "[fd00::1]" or "[fd00::1]:80"; no name, no scope.
 * `port` is -1 where the text has none.
 * Return: bytes of the address, for bind(2); 0 where the text is none.
 */
socklen_t inet_address_read(union inet_address *address, const char *text, int *port);

/* Sets the port, in the host's byte order. */
void inet_address_set_port(union inet_address *address, int port);
