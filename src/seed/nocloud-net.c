/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "seed/nocloud-net.h"
#include "seed/nocloud.h"

int
nocloud_net_make(struct seed *seed, struct request *request, struct failure **failure)
{
    if (nocloud_make(seed, request, failure) < 0)
        return -1;
    seed->served = true;
    return 0;
}
