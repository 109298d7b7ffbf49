/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include "domain/network.h"
#include "domain/vocabulary.h"

struct network *
network_read(const xmlNode *node, const struct domain *domain, struct failure **failure)
{
    (void)domain;
    vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG, "is not built yet", "wait");
    return NULL;
}

void
network_free(struct network *network)
{
    free(network);
}

int
network_read_nic_configurations(struct network *network, const xmlNode *node,
                                struct failure **failure)
{
    (void)network;
    return vocabulary_fail(node, failure, FAILURE_NETWORK_CONFIG, "is not built yet",
                           "wait");
}

int
network_set_dns(struct network *network, const char *servers, const char *searches,
                struct failure **failure)
{
    (void)network, (void)servers, (void)searches, (void)failure;
    return 0;
}
