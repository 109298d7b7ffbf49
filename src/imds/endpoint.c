/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "imds/endpoint.h"

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
    char behind[8] = "";
    bool brackets = port && endpoint->family == AF_INET6;

    inet_ntop(endpoint->family, endpoint->address.bytes, address, sizeof(address));
    if (endpoint->family == AF_INET6 && endpoint->device != 0)
        snprintf(device, sizeof(device), "%%%u", endpoint->device);
    if (port)
        snprintf(behind, sizeof(behind), ":%u", endpoint->port);
    snprintf(text, ENDPOINT_TEXT, "%s%s%s%s%s", brackets ? "[" : "", address, device,
             brackets ? "]" : "", behind);
}
