/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 and IPv6 addresses with their prefix length. */
#pragma once

#include <netinet/in.h>

#include "base/base.h"

struct address {
    int family; /* AF_INET or AF_INET6 */
    int prefix; /* the full length if none was given */
    union {
        unsigned char bytes[16];
        struct in6_addr ipv6;
    };
};

/* Return: whether the text is an address ("192.0.2.1"), or an address with a prefix length
 * ("192.0.2.1/24", never a netmask). */
bool address_parse(struct address *address, const char *text);
bool address_parse_with_prefix(struct address *address, const char *text);

/* Sets the prefix from a length ("24") or a netmask ("255.255.255.0", "ffff:ffff::").
 * Return: whether it is valid for the address's family. */
bool address_set_prefix(struct address *address, const char *text);

/* Return: the address with all bits after the prefix 0. */
struct address address_network(const struct address *address);
/* Return: whether it is that: a network, not a host. */
bool address_is_network(const struct address *address);
/* Return: whether it can be the address of one machine: not unspecified, not multicast,
 * not broadcast. */
bool address_is_unicast(const struct address *address);
/* Return: whether a host can have it on its network: unicast, and not loopback, not
 * IPv4-mapped IPv6, not the network or broadcast address, and not with a prefix of 0. */
bool address_is_host(const struct address *address);
/* Return: whether it is in fe80::/10. */
bool address_is_link_local6(const struct address *address);
/* Return: whether `other` is in the network. */
bool address_covers(const struct address *network, const struct address *other);

/* Return: text in the usual form, owned by the caller (free): the address, the address
 * with its prefix, its netmask ("255.255.255.0", "ffff:ffff::"). */
char *address_format(const struct address *address);
char *address_format_with_prefix(const struct address *address);
char *address_format_netmask(const struct address *address);
