/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maker's side of its conversation with the keeper (host/exchange.h). A reader returns
 * false if the message is not what this version's keeper says.
 */
#pragma once

#include <stdbool.h>

#include "host/exchange.h"

/* The hello must be empty. */
bool hello_get(struct hello *hello, const struct buffer *message);

void needs_put(const struct needs *needs, struct buffer *message);
/* Fills in the answers to the needs that were put. */
bool answers_get(struct needs *needs, const struct buffer *message);

/* The image stays in its file. */
void verdict_put(const struct verdict *verdict, struct buffer *message);

/* The result, or the failure unless that is NULL. */
void result_put(const struct maker_result *result, const struct failure *failure,
                struct buffer *message);
