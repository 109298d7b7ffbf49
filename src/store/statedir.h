/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state directory, /var/lib/virt-seed: what is kept from one start of a domain to its next.
 *
 *   UUID.json                      what the host remembers of the domain (record.h)
 *   UUID.ssh_host_ed25519_key.pub  the host key that was made for it (host-key.h)
 *   secrets/                       root's alone, with the private keys in it
 *
 * Everybody may look up a name in it that they know, and need not list them all.
 */
#pragma once

/* Opens it below `root`; it is made where it is missing. Return: a descriptor, owned by the
 * caller, or -errno. */
int statedir_make(int root);

/* The same where nothing is made: a descriptor that is for openat(2) and its kin (O_PATH). */
int statedir_open(int root);
