/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>

#include "domain/address.h"

static int
bits_of(const struct address *address)
{
    return address->family == AF_INET ? 32 : 128;
}

bool
address_parse(struct address *address, const char *text)
{
    *address = (struct address){.family = strchr(text, ':') ? AF_INET6 : AF_INET};
    address->prefix = bits_of(address);
    return inet_pton(address->family, text, address->bytes) == 1;
}

static bool
set_length(struct address *address, const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (digits < 1 || digits > 3 || text[digits])
        return false;
    if (*text == '0' && digits > 1)
        return false;
    address->prefix = (int)strtol(text, NULL, 10);
    return address->prefix <= bits_of(address);
}

bool
address_set_prefix(struct address *address, const char *text)
{
    struct address mask;
    int length = 0;

    if (!address_parse(&mask, text))
        return set_length(address, text);
    while (length < bits_of(&mask) && mask.bytes[length / 8] & (0x80 >> length % 8))
        length++;
    address->prefix = mask.prefix = length;
    /* The bits that are set must be contiguous. */
    return mask.family == address->family && address_is_network(&mask);
}

bool
address_parse_with_prefix(struct address *address, const char *text)
{
    const char *slash = strchr(text, '/');
    cleanup_free char *host = xstrndup(text, slash ? (size_t)(slash - text) : 0);

    return slash && address_parse(address, host) && set_length(address, slash + 1);
}

static struct address
with_host_bits(const struct address *address, bool set)
{
    struct address result = *address;

    for (int i = address->prefix; i < bits_of(address); i++) {
        if (set)
            result.bytes[i / 8] |= (unsigned char)(0x80 >> i % 8);
        else
            result.bytes[i / 8] &= (unsigned char)~(0x80 >> i % 8);
    }
    return result;
}

struct address
address_network(const struct address *address)
{
    return with_host_bits(address, false);
}

static bool
address_equal(const struct address *address, const struct address *other)
{
    return address->family == other->family &&
           memcmp(address->bytes, other->bytes, sizeof(address->bytes)) == 0;
}

bool
address_is_network(const struct address *address)
{
    const struct address network = address_network(address);

    return address_equal(address, &network);
}

bool
address_is_unicast(const struct address *address)
{
    if (address->family == AF_INET)
        return address->bytes[0] != 0 && address->bytes[0] < 224;
    return !IN6_IS_ADDR_MULTICAST(&address->ipv6) &&
           !IN6_IS_ADDR_UNSPECIFIED(&address->ipv6);
}

bool
address_is_host(const struct address *address)
{
    const bool ipv4 = address->family == AF_INET;
    const struct address last = with_host_bits(address, true);

    if (!address_is_unicast(address) || address->prefix == 0)
        return false;
    if (ipv4 && address->bytes[0] == 127)
        return false;
    /* The kernel does not assign an IPv4-mapped address to an interface. */
    if (!ipv4 &&
        (IN6_IS_ADDR_LOOPBACK(&address->ipv6) || IN6_IS_ADDR_V4MAPPED(&address->ipv6)))
        return false;
    /* In networks of one or two addresses, all are hosts (RFC 3021, RFC 6164). */
    if (address->prefix >= bits_of(address) - 1)
        return true;
    if (ipv4 && address_equal(address, &last))
        return false;
    return !address_is_network(address);
}

bool
address_is_link_local6(const struct address *address)
{
    return address->family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&address->ipv6);
}

bool
address_covers(const struct address *network, const struct address *other)
{
    const struct address one = address_network(network);
    struct address two = *other;

    two.prefix = network->prefix;
    two = address_network(&two);
    return address_equal(&one, &two);
}

char *
address_format(const struct address *address)
{
    char text[INET6_ADDRSTRLEN] = "";

    inet_ntop(address->family, address->bytes, text, sizeof(text));
    return xstrdup(text);
}

char *
address_format_with_prefix(const struct address *address)
{
    cleanup_free char *text = address_format(address);

    return xasprintf("%s/%d", text, address->prefix);
}

char *
address_format_netmask(const struct address *address)
{
    struct address mask = *address;

    memset(mask.bytes, 0xff, sizeof(mask.bytes));
    mask = address_network(&mask);
    return address_format(&mask);
}
