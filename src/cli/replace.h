/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seed of a domain that runs, replaced where the domain has it (store/delivery.h), by
 * libvirt. */
#pragma once

#include "cli/cli.h"
#include "cli/source.h"
#include "domain/request.h"
#include "store/delivery.h"

/* Fails without the right to replace a seed. */
int replace_check_caller(const struct context *context, struct failure **failure);

/*
 * Puts the seed in the place of what the domain, whose XML as it runs is `running`, has, and
 * writes the request, of which it was made, into that XML: when the guest is saved and comes
 * back, its seed is made anew of what stands there. The definition stays as it is.
 *
 * On failure the domain has its old seed, or the message says what it has.
 */
int replace_seed(const struct context *context, const struct source *source,
                 const struct source *running, const struct request *request,
                 struct seed *seed, struct failure **failure);
