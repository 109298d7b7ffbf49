/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far cloud-init is in a guest, and the words for it: in records, in the journal, and in
 * what `virt-seed status` and `virt-seed wait` print. */
#pragma once

#include <stdbool.h>

enum guest_state {
    GUEST_STATE_NOTHING, /* nothing was heard of it */
    GUEST_STATE_RUNNING,
    GUEST_STATE_DONE,
    GUEST_STATE_FAILED,     /* it is at its end, with errors */
    GUEST_STATE_UNFINISHED, /* the boot was over before its end was heard of */
    GUEST_STATE_UNKNOWN,    /* what would say it cannot be read */
    GUEST_STATE_COUNT,
    /* No boot with a seed is known, or it is one that does not report. */
    GUEST_STATE_UNTOLD = GUEST_STATE_COUNT,
};

/* Return: "none", "running", "done", "failed", "unfinished" or "unknown"; NULL for
 * GUEST_STATE_UNTOLD. */
const char *guest_state_word(enum guest_state state);

/* Return: whether it has come to its end, well or not. */
bool guest_state_is_end(enum guest_state state);

/* Return: the end that has this word; GUEST_STATE_NOTHING for any other and for NULL. */
enum guest_state guest_state_find_end(const char *word);
