/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes for tables whose keys others choose: without the seed nobody can make two meet. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t hash_seed(void);
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);
