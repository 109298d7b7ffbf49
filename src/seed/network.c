/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "seed/network.h"

void
network_write_v2(struct buffer *buffer, const struct network *network)
{
    (void)buffer, (void)network;
}

void
network_write_openstack(struct buffer *buffer, const struct network *network)
{
    (void)buffer, (void)network;
}

void
network_write_eni(struct buffer *buffer, const struct network *network)
{
    (void)buffer, (void)network;
}
