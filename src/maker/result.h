/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of a domain's record: when its guest has ended, of what the guest said; and
 * when it has started although a command has changed the record since the start began.
 */
#pragma once

#include <time.h>

#include "base/buffer.h"
#include "base/failure.h"

enum maker_event {
    MAKER_EVENT_NONE,       /* the guest has not finished a boot */
    MAKER_EVENT_DONE,       /* cloud-init succeeded */
    MAKER_EVENT_UNTIL_DONE, /* the same; from now on the guest gets only its identity */
    MAKER_EVENT_FAILED,     /* cloud-init reported errors */
};

struct maker_result {
    struct buffer record; /* its text */
    enum maker_event event;
};

/* The end of a guest; everything is borrowed. */
struct maker_end {
    const struct buffer *report; /* what the guest said */
    time_t written;              /* when, by the host's clock; 0 if it said nothing */
    const struct buffer *record; /* its text; empty if there is none */
    const char *end;             /* how, in libvirt's word; NULL if it did not tell */
};

/* The result must be empty. */
int maker_report(const struct maker_end *end, struct maker_result *result,
                 struct failure **failure);

/* `next` is the record that the start made of an earlier one. */
int maker_merge(const struct buffer *record, const struct buffer *next,
                struct maker_result *result, struct failure **failure);

void maker_result_clear(struct maker_result *result);

#define cleanup_maker_result __attribute__((cleanup(maker_result_clear)))
