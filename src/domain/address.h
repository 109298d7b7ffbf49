/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 and IPv6 addresses, with the length of their network's prefix. */
#pragma once

#include <stdbool.h>

struct address {
    int family; /* AF_INET or AF_INET6 */
    int prefix; /* of an address alone: all its bits */
    unsigned char bytes[16];
};

/* Return: whether the text is an address ("192.0.2.1"), or one with its prefix
 * ("192.0.2.1/24"); the prefix is never a netmask here. */
bool address_parse(struct address *address, const char *text);
bool address_parse_with_prefix(struct address *address, const char *text);

/* Sets the prefix from its length ("24") or from a netmask ("255.255.255.0",
 * "ffff:ffff::"). Return: whether it is one of the address's family. */
bool address_set_prefix(struct address *address, const char *text);

/* Return: whether all bits behind the prefix are 0: a network, not a host. */
bool address_is_network(const struct address *address);
/* Return: whether one machine may be meant: not unspecified, not multicast, not all. */
bool address_is_unicast(const struct address *address);
/* Return: whether a host of a network may have it: besides not loopback, not IPv4 in IPv6,
 * not the network itself, not its broadcast address, and no network of everything. */
bool address_is_host(const struct address *address);
/* Return: whether it is in fe80::/10. */
bool address_is_link_local6(const struct address *address);
/* Return: whether the other is an address of the network. */
bool address_covers(const struct address *network, const struct address *other);

/* Return: the usual text, owned by the caller (free): the address alone, with its prefix,
 * the network's ("192.0.2.0"), and its netmask ("255.255.255.0", "ffff:ffff::"). */
char *address_format(const struct address *address);
char *address_format_with_prefix(const struct address *address);
char *address_format_network(const struct address *address);
char *address_format_netmask(const struct address *address);
