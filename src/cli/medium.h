/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium in the drive of a domain that runs: replaced through libvirt, which has QEMU
 * open the file anew. To rename another file to its path is not enough: QEMU keeps what it
 * has opened, and libvirt takes an update with the same path for none.
 */
#pragma once

#include <stdbool.h>

#include "cli/cli.h"
#include "cli/source.h"
#include "seed/seed.h"

/* Fails without the right to replace a medium. */
int medium_check_caller(const struct context *context, struct failure **failure);

/* Fails where the medium cannot be replaced: of a read-only disk, of a drive that libvirt
 * does not know of (virt-seed-qemu's), or without any. */
int medium_check(const struct domain *running, struct failure **failure);

/* Return: whether the drive has what lies in the run-time directory, and no replacement was
 * cut off. */
bool medium_is_in(const struct context *context, const struct domain *running);

/*
 * Puts the seed into the drive of the domain, whose XML as it runs is `running`, and writes
 * `request`, of which the seed was made, into that XML: when the guest is saved and comes
 * back, its seed is made anew of what stands there. The definition stays as it is.
 *
 * On failure the old medium is in the drive again, or the message says what is.
 */
int medium_replace(const struct context *context, const struct source *source,
                   const struct source *running, const xmlNode *request,
                   const struct seed *seed, struct failure **failure);
