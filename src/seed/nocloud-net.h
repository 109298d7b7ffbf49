/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NoCloud without a disk: the documents of NoCloud, which the guest fetches over HTTP. The
 * seed is served.
 */
#pragma once

#include "seed/seed.h"

int nocloud_net_make(struct seed *seed, struct request *request,
                     struct failure **failure);
