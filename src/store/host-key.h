/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ssh host key that virt-seed makes for a domain (ssh-host-keys="generate"):
 *
 *   /var/lib/virt-seed/secrets/UUID/ssh_host_ed25519_key   0600, the directories 0700
 *   /var/lib/virt-seed/UUID.ssh_host_ed25519_key.pub       0644, for 'virt-seed known-hosts'
 *
 * How it works: the private key is made once, at the first start that finds none, and
 * never replaced: of two starts at the same time one puts its key there, and both use
 * that. The public one is made of it, at each start that does not find it, or finds
 * another. So whoever brings a domain to another host brings the directory of its UUID along.
 */
#pragma once

#include <stdbool.h>

#include "base/failure.h"
#include "domain/part.h"

#define HOST_KEY_DIRECTORY VIRT_SEED_STATEDIR "/secrets"

/*
 * Sees to it that the domain's keys are there. Without `may_make` (a guest is resumed,
 * and has its key since its first boot) a private key that is missing is
 * FAILURE_SECRET_MISSING, which says how to bring it over.
 */
int host_key_prepare(int root, const char *uuid, bool may_make, struct failure **failure);

/* Adds the keys to the part, which has none yet. One that is not there is
 * FAILURE_SECRET_MISSING. */
int host_key_read(int root, const char *uuid, struct part *part,
                  struct failure **failure);

/* The same for the public key alone, which anybody may read. */
int host_key_read_public(int root, const char *uuid, struct part *part,
                         struct failure **failure);
