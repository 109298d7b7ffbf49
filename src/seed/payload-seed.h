/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oVirt's payload (domain/payload.h) as a seed, file by file. */
#pragma once

#include "seed/seed.h"

/* A maker, see seed.c. */
int payload_seed_make(struct seed *seed, struct request *request,
                      struct failure **failure);
