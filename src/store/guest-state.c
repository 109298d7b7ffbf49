/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "store/guest-state.h"

static const char *const words[] = {
    [GUEST_STATE_NOTHING] = "none",
    [GUEST_STATE_RUNNING] = "running",
    [GUEST_STATE_DONE] = "done",
    [GUEST_STATE_FAILED] = "failed",
    [GUEST_STATE_UNFINISHED] = "unfinished",
    [GUEST_STATE_UNKNOWN] = "unknown",
};
static_assert(sizeof(words) / sizeof(words[0]) == GUEST_STATE_COUNT,
              "each state has its word");

const char *
guest_state_word(enum guest_state state)
{
    return state < GUEST_STATE_COUNT ? words[state] : NULL;
}

bool
guest_state_is_end(enum guest_state state)
{
    return state == GUEST_STATE_DONE || state == GUEST_STATE_FAILED;
}

enum guest_state
guest_state_find_end(const char *word)
{
    for (int i = 0; word && i < GUEST_STATE_COUNT; i++) {
        enum guest_state state = (enum guest_state)i;

        if (guest_state_is_end(state) && strcmp(words[state], word) == 0)
            return state;
    }
    return GUEST_STATE_NOTHING;
}
