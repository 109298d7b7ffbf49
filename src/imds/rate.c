/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/limits.h"
#include "base/memory.h"
#include "imds/rate.h"

/* A name has its place in one of this many buckets. */
#define WAYS 4
#define SETS (LIMIT_IMDS_RATE_SLOTS / WAYS)
/* Buckets hold thousandths, so that each millisecond fills them a little. */
#define ONE 1000
#define FULL (LIMIT_IMDS_BURST * ONE)

struct bucket {
    uint64_t name; /* its hash; 0: nobody's */
    uint64_t time; /* when it was looked at */
    uint64_t content;
};

struct rate {
    uint64_t seed;
    struct bucket buckets[SETS][WAYS];
};

struct rate *
rate_new(void)
{
    struct rate *rate = xcalloc(1, sizeof(*rate));

    /* Without it somebody could choose names that meet another's. */
    if (getrandom(&rate->seed, sizeof(rate->seed), 0) < 0)
        rate->seed = (uint64_t)(uintptr_t)rate;
    return rate;
}

void
rate_free(struct rate *rate)
{
    free(rate);
}

/* FNV-1a, and the end of splitmix64. */
static uint64_t
hash(const struct rate *rate, const unsigned char *bytes, size_t size)
{
    uint64_t value = rate->seed ^ 0xcbf29ce484222325;

    for (size_t i = 0; i < size; i++)
        value = (value ^ bytes[i]) * 0x100000001b3;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    value ^= value >> 31;
    return value != 0 ? value : 1;
}

static uint64_t
content_at(const struct bucket *bucket, uint64_t now)
{
    uint64_t passed = now - bucket->time;

    if (bucket->name == 0 || passed > FULL / LIMIT_IMDS_RATE)
        return FULL;
    passed = bucket->content + passed * LIMIT_IMDS_RATE;
    return passed < FULL ? passed : FULL;
}

static struct bucket *
find_bucket(struct rate *rate, uint64_t name, uint64_t now)
{
    struct bucket *set = rate->buckets[name % SETS];
    struct bucket *fullest = &set[0];

    for (int i = 0; i < WAYS; i++) {
        if (set[i].name == name)
            return &set[i];
        if (content_at(&set[i], now) > content_at(fullest, now))
            fullest = &set[i];
    }
    *fullest = (struct bucket){.name = name, .time = now, .content = FULL};
    return fullest;
}

bool
rate_take(struct rate *rate, const void *name, size_t size, uint64_t now)
{
    struct bucket *bucket = find_bucket(rate, hash(rate, name, size), now);

    bucket->content = content_at(bucket, now);
    bucket->time = now;
    if (bucket->content < ONE)
        return false;
    bucket->content -= ONE;
    return true;
}
