/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "domain/network.h"
#include "domain/nic.h"

typedef int adder(struct nic *nic, const char *what, const char *text,
                  struct failure **failure);

static int
add_words(struct nic *nic, adder *add, const char *what, const char *words,
          struct failure **failure)
{
    cleanup_free char *copy = xstrdup(words ? words : "");
    char *rest = copy;

    for (const char *word = strtok_r(copy, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (add(nic, what, word, failure) < 0)
            return -1;
    }
    return 0;
}

static bool
has_words(const char *text)
{
    return text && text[strspn(text, " \t\r\n")];
}

int
network_set_dns(struct network *network, const char *servers, const char *searches,
                struct failure **failure)
{
    bool set = !has_words(servers) && !has_words(searches);

    for (size_t i = 0; i < network->nic_count; i++) {
        struct nic *nic = &network->nics[i];

        if (!nic->dhcp4 && !nic->dhcp6 && nic->accept_ra != ACCEPT_RA_YES &&
            !nic_has_address(nic, AF_UNSPEC))
            continue;
        if (add_words(nic, nic_add_nameserver, "<dns_servers>", servers, failure) < 0 ||
            add_words(nic, nic_add_search, "<dns_search>", searches, failure) < 0 ||
            nic_check_dns(nic, failure) < 0)
            return -1;
        set = true;
    }
    if (set)
        return 0;
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "<dns_servers> or <dns_search> stands, and no nic has an address "
                       "or DHCP\n"
                       "add <nic_configurations> with a nic that has one of them");
}

void
network_free(struct network *network)
{
    if (!network)
        return;
    for (size_t i = 0; i < network->nic_count; i++)
        nic_clear(&network->nics[i]);
    free(network->nics);
    free(network);
}
