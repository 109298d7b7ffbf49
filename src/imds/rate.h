/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often somebody may ask: a bucket for each guest or peer, which fills by
 * LIMIT_IMDS_RATE a second up to LIMIT_IMDS_BURST. The table has a fixed size. Where there
 * are more than it has room for, the fullest bucket makes room: who comes back then begins
 * anew.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate;

/* Return: a table with full buckets, owned by the caller (rate_free). */
struct rate *rate_new(void);
void rate_free(struct rate *rate);

/* Takes one from the bucket of whoever is called `name`, at `now`, in milliseconds. Return:
 * whether there was one. */
bool rate_take(struct rate *rate, const void *name, size_t size, uint64_t now);
