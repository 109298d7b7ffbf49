/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ssh host key that virt-seed makes for a domain (ssh-host-keys="generate"):
 *
 *   /var/lib/virt-seed/secrets/UUID/ssh_host_ed25519_key   0600, the directories 0700
 *   /var/lib/virt-seed/UUID.ssh_host_ed25519_key.pub       0644, for 'virt-seed known-hosts'
 *
 * How it works: the private key is made once, at the first start that finds none, and
 * never replaced: of two simultaneous starts one publishes its key, and both use it. The
 * public key is made from it at each start that finds none or a different one.
 */
#pragma once

#include <stdbool.h>

#include "base/failure.h"
#include "domain/part.h"

/*
 * Ensures that the domain's keys exist, and adds them to the part, which has none yet.
 * Without `may_make` (for a resumed guest, which has had its key since its first boot) a
 * missing private key is FAILURE_SECRET_MISSING, with a hint how to copy it.
 */
int host_key_prepare(int root, const char *uuid, bool may_make, struct part *part,
                     struct failure **failure);

/* The same for keys that exist. A missing one is FAILURE_SECRET_MISSING, with a hint how to
 * copy it if the guest has booted. */
int host_key_read(int root, const char *uuid, bool has_booted, struct part *part,
                  struct failure **failure);

/* The same for only the public key, which anyone may read. */
int host_key_read_public(int root, const char *uuid, struct part *part,
                         struct failure **failure);
