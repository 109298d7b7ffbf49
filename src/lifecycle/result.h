/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest has reported, in its record. */
#pragma once

#include "lifecycle/lifecycle.h"

/*
 * Reads the report of the guest that has ended and records what its cloud-init said at the
 * end; a guest that is set up by that (boots="until-done") is recorded as done. What fails is
 * logged.
 */
void result_record(const struct lifecycle *lifecycle);
