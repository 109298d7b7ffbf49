/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>

#include "base/inet.h"

void
inet_address_set_port(union inet_address *address, int port)
{
    if (address->any.sa_family == AF_INET6)
        address->ipv6.sin6_port = htons((uint16_t)port);
    else
        address->ipv4.sin_port = htons((uint16_t)port);
}

socklen_t
inet_address_read(union inet_address *address, const char *text, int *port)
{
    bool bracket = *text == '[';
    const char *start = bracket ? text + 1 : text;
    size_t length = strcspn(start, bracket ? "]" : ":");
    const char *rest = start + length;
    cleanup_free char *host = xstrndup(start, length);
    void *bytes = &address->ipv4.sin_addr;

    memset(address, 0, sizeof(*address));
    address->any.sa_family = bracket ? AF_INET6 : AF_INET;
    *port = -1;
    if (bracket)
        bytes = &address->ipv6.sin6_addr;
    if (inet_pton(address->any.sa_family, host, bytes) != 1)
        return 0;
    if (bracket && *rest++ != ']')
        return 0;
    if (*rest == ':') {
        const char *digits = rest + 1;
        size_t count = strspn(digits, "0123456789");

        if (count < 1 || count > 5 || digits[count])
            return 0;
        if (*digits == '0' && count > 1)
            return 0;
        *port = (int)strtol(digits, NULL, 10);
        if (*port > UINT16_MAX)
            return 0;
        inet_address_set_port(address, *port);
    } else if (*rest) {
        return 0;
    }
    return bracket ? sizeof(address->ipv6) : sizeof(address->ipv4);
}
