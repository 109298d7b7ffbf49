/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host remembers of a domain from one boot to the next: a file of JSON in
 * /var/lib/virt-seed, named by the domain's UUID. It holds no content of a seed, and anybody
 * may read it.
 */
#pragma once

#include <stdbool.h>

#include "base/failure.h"

/*
 * Says whether the guest is recorded as set up (boots="until-done"). Without a record it is
 * not. Return: 0, or -1 where there is a record that cannot be read.
 */
int record_read_done(int root, const char *uuid, bool *done, struct failure **failure);

/* Records that the guest is set up, or takes that back. */
int record_write_done(int root, const char *uuid, bool done, struct failure **failure);
