/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeper and maker tell each other (host/message.h).
 *
 * How it works: the keeper trusts nothing that it reads. Each reader here takes only what a
 * maker may say: kinds, counts and lengths within limits; file names, tokens, MACs and
 * digests by their form; words from a list. No UUID, path of the host, mode or owner is in a
 * message from the maker. A reader returns false for anything else, and the start is
 * refused.
 */
#pragma once

#include <stdbool.h>

#include "base/limits.h"
#include "host/message.h"
#include "host/need.h"
#include "maker/result.h"
#include "maker/verdict.h"

/* The largest messages, in bytes. */
#define LIMIT_ANSWERS_MESSAGE (32 * MIB)
#define LIMIT_VERDICT_MESSAGE (32 * MIB)
#define LIMIT_RESULT_MESSAGE (LIMIT_RECORD + 64 * KIB)

void needs_put(const struct needs *needs, struct buffer *message);
/* The needs must be empty. */
bool needs_get(struct needs *needs, const struct buffer *message);

void answers_put(const struct needs *needs, struct buffer *message);
/* Fills in the answers to the needs that were put. */
bool answers_get(struct needs *needs, const struct buffer *message);

/* The image stays in its file. */
void verdict_put(const struct verdict *verdict, struct buffer *message);
/*
 * The verdict must be VERDICT_NONE, but with the output. `may_make_key`: the maker was told
 * to make a host key.
 */
bool verdict_get(struct verdict *verdict, bool may_make_key,
                 const struct buffer *message);

/* Either a result or, if that is NULL, the failure. */
void result_put(const struct maker_result *result, const struct failure *failure,
                struct buffer *message);
/* The result must be empty; `failure` gets what the maker has found, if anything. */
bool result_get(struct maker_result *result, struct failure **failure,
                const struct buffer *message);
