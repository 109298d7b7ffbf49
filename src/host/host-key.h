/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ssh host key that virt-seed makes for a domain (ssh-host-keys="generate"):
 *
 *   /var/lib/virt-seed/secrets/UUID/ssh_host_ed25519_key   0600, the directories 0700
 *   /var/lib/virt-seed/UUID.ssh_host_ed25519_key.pub       0644, for 'virt-seed known-hosts'
 *
 * How it works: the first start that finds no private key gets a new one from whoever makes
 * the seed, which is published before the seed and never replaced. The public key is
 * published at each start that finds none or a different one.
 */
#pragma once

#include "base/base.h"

/* What a start has to publish. */
struct host_key {
    struct buffer private; /* empty unless it is new */
    char *public;          /* a line; NULL if the seed has no generated key */
};

void host_key_clear(struct host_key *key);

#define cleanup_host_key __attribute__((cleanup(host_key_clear)))

/* Publishes the keys. Fails if there is a private key and this one is new. */
int host_key_publish(int root, const char *uuid, const struct host_key *key,
                     struct failure **failure);
