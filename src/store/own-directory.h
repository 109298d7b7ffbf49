/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories in which virt-seed keeps what only it may write. */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "base/failure.h"

/*
 * Opens the directory at `path` below `root`; it is made with `mode` where it is missing.
 * One that is a symbolic link, belongs to somebody else, or may be written by others is
 * refused. Return: a descriptor, owned by the caller, or -1.
 */
int own_directory_open(int root, const char *path, mode_t mode, struct failure **failure);

/* Refuses a directory, as fstat(2) describes it, that does not belong to `owner`, or that
 * others may write into. */
int own_directory_check(const struct stat *status, uid_t owner, const char *path,
                        struct failure **failure);

/*
 * The state directory, /var/lib/virt-seed: what is kept from one start of a domain to its
 * next.
 *
 *   UUID.json                      what the host remembers of the domain (record.h)
 *   UUID.ssh_host_ed25519_key.pub  the host key that was made for it (host-key.h)
 *   secrets/                       root's alone, with the private keys in it
 *
 * Everybody may look up a name in it that they know, and need not list them all.
 */

/* Opens it below `root`; it is made where it is missing. Return: a descriptor, owned by
 * the caller, or -errno. */
int statedir_make(int root);

/* The same where nothing is made: a descriptor that is for openat(2) and its kin
 * (O_PATH). */
int statedir_open(int root);
