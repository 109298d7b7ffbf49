/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long may be waited: milliseconds, or -1 where there is nothing to wait for. */
#pragma once

static inline int
wait_earlier(int one, int other)
{
    if (one < 0 || other < 0)
        return one < 0 ? other : one;
    return one < other ? one : other;
}
