/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of a domain's record: when its guest has ended, of what the guest said; and
 * when it has started although a command has changed the record since the start began.
 */
#pragma once

#include "base/failure.h"
#include "host/exchange.h"

/* The result must be empty; the hello is that of the role. */
int maker_report(const struct hello *hello, struct maker_result *result,
                 struct failure **failure);
int maker_merge(const struct hello *hello, struct maker_result *result,
                struct failure **failure);
