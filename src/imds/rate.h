/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often somebody may do something: a bucket for each guest or peer, which fills at a rate,
 * up to a burst. The table has a fixed size. Where there are more than it has room for, the
 * fullest bucket makes room: whoever comes back then starts again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rate;

/* Return: a table with full buckets of `burst`, which get so many `per_second`, owned by the
 * caller (free). */
struct rate *rate_new(unsigned int per_second, unsigned int burst);

/* Takes one from the bucket of whoever is called `name`, at `now`, in milliseconds. Return:
 * whether there was one. */
bool rate_take(struct rate *rate, const char *name, uint64_t now);
