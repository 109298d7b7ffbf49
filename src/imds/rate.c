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

struct bucket {
    uint64_t name; /* its hash; 0: nobody's */
    uint64_t time; /* when it was looked at */
    uint64_t content;
};

struct rate {
    uint64_t seed;
    uint64_t rate; /* thousandths a millisecond */
    uint64_t full;
    struct bucket buckets[SETS][WAYS];
};

struct rate *
rate_new(unsigned int per_second, unsigned int burst)
{
    struct rate *rate = xcalloc(1, sizeof(*rate));

    rate->rate = per_second;
    rate->full = (uint64_t)burst * ONE;
    /* So few bytes come whole, or the kernel knows no such call. */
    if (getrandom(&rate->seed, sizeof(rate->seed), 0) != sizeof(rate->seed))
        abort();
    return rate;
}

/* Others choose the names: without the seed nobody can make two meet. FNV-1a, and the end of
 * splitmix64. */
static uint64_t
hash(const struct rate *rate, const char *name)
{
    uint64_t value = rate->seed ^ 0xcbf29ce484222325;

    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * 0x100000001b3;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    value ^= value >> 31;
    return value != 0 ? value : 1;
}

static uint64_t
content_at(const struct rate *rate, const struct bucket *bucket, uint64_t now)
{
    uint64_t passed = now - bucket->time;
    uint64_t content;

    if (bucket->name == 0 || passed > rate->full / rate->rate)
        return rate->full;
    content = bucket->content + passed * rate->rate;
    return content < rate->full ? content : rate->full;
}

bool
rate_take(struct rate *rate, const char *name, uint64_t now)
{
    const uint64_t hashed = hash(rate, name);
    struct bucket *set = rate->buckets[hashed % SETS];
    struct bucket *bucket = &set[0];

    /* Its own, else the fullest. */
    for (int i = 0; i < WAYS && bucket->name != hashed; i++) {
        if (set[i].name == hashed ||
            content_at(rate, &set[i], now) > content_at(rate, bucket, now))
            bucket = &set[i];
    }
    if (bucket->name != hashed)
        *bucket = (struct bucket){.name = hashed, .time = now, .content = rate->full};
    bucket->content = content_at(rate, bucket, now);
    bucket->time = now;
    if (bucket->content < ONE)
        return false;
    bucket->content -= ONE;
    return true;
}
