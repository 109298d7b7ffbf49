/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/hostname.h"

static bool
is_label(const char *label, size_t length)
{
    if (length == 0 || length > LIMIT_HOSTNAME_LABEL)
        return false;
    if (label[0] == '-' || label[length - 1] == '-')
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isascii(label[i]) || (!isalnum((unsigned char)label[i]) && label[i] != '-'))
            return false;
    }
    return true;
}

static bool
is_hostname(const char *hostname)
{
    struct in_addr address;

    if (strlen(hostname) > LIMIT_HOSTNAME || inet_pton(AF_INET, hostname, &address) == 1)
        return false;
    for (;;) {
        size_t length = strcspn(hostname, ".");

        if (!is_label(hostname, length))
            return false;
        if (!hostname[length])
            return true;
        hostname += length + 1;
    }
}

int
hostname_check(const char *hostname, struct failure **failure)
{
    if (is_hostname(hostname))
        return 0;
    failure_set(failure, FAILURE_HOSTNAME, "'%.300s' is no host name", hostname);
    return failure_hint(failure,
                        "use letters, digits and dashes, in labels of at most %d "
                        "characters that are joined by dots",
                        LIMIT_HOSTNAME_LABEL);
}

char *
hostname_from_domain(const char *name, const char *uuid)
{
    char *hostname = xstrndup(name, LIMIT_HOSTNAME_LABEL);
    size_t begin, end = strlen(hostname);

    for (char *at = hostname; *at; at++) {
        if (!isascii(*at) || !isalnum((unsigned char)*at))
            *at = '-';
        *at = (char)tolower((unsigned char)*at);
    }
    begin = strspn(hostname, "-");
    while (end > begin && hostname[end - 1] == '-')
        end--;
    if (begin == end) {
        free(hostname);
        return xasprintf("vm-%.8s", uuid);
    }
    hostname[end] = '\0';
    memmove(hostname, hostname + begin, end - begin + 1);
    return hostname;
}
