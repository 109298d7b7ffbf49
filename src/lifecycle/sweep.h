/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done on the side for domains that are gone; the rest is `virt-seed gc`'s. */
#pragma once

#include "lifecycle/lifecycle.h"

/*
 * Removes records of domains that have not been there for 90 days and have no definition any
 * more; never one that says that a guest is set up, nor anything else than records. Looks at
 * 256 names at most, and says nothing.
 */
void sweep_records(const struct lifecycle *lifecycle);
