/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <sys/random.h>

#include "imds/hash.h"

uint64_t
hash_seed(void)
{
    uint64_t seed;

    /* So few bytes come whole, or the kernel knows no such call. */
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        abort();
    return seed;
}

/* FNV-1a, and the end of splitmix64. */
uint64_t
hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t value = seed ^ 0xcbf29ce484222325;

    for (size_t i = 0; i < size; i++)
        value = (value ^ byte[i]) * 0x100000001b3;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}
