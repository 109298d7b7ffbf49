/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories that only virt-seed may write to. */
#pragma once

#include "base/base.h"

/*
 * Opens one of the scope's directories below `root`, or one below those; makes it, and those
 * above, with `mode` if they are missing. None may be a symbolic link, except on the way to
 * the home of a session's user. Return: a descriptor, owned by the caller, or -errno.
 */
int own_directory_make(int root, const char *path, mode_t mode);

/*
 * Opens the directory at `path` below `root`; makes it with `mode` if it is missing.
 * Refuses a symbolic link, a directory of another owner, and one that others may write
 * to. Return: a descriptor, owned by the caller, or -1.
 */
int own_directory_open(int root, const char *path, mode_t mode, struct failure **failure);

/* Refuses a directory of the user `found`, with that mode, that does not belong to `owner` or
 * that others may write to. */
int own_directory_check(uid_t found, mode_t mode, uid_t owner, const char *path,
                        struct failure **failure);

/* Fails with "could not WHAT PATH/NAME", where `path` is such a directory. Return: -1. */
int own_directory_fail(enum failure_code code, const char *what, const char *path,
                       const char *name, int error, struct failure **failure);

/*
 * The state directory, /var/lib/virt-seed: what virt-seed keeps from one start of a
 * domain to the next.
 *
 *   UUID.json                      what the host remembers of the domain (record.h)
 *   UUID.log                       the log of its last boot, if that failed (report-file.h)
 *   UUID.ssh_host_ed25519_key.pub  the host key that was made for it (host-key.h)
 *   secrets/                       root's alone, with the private keys in it
 *
 * Everyone may open a file whose name they know, but not list the directory.
 */

/* Opens it below `root`; makes it if it is missing. Return: a descriptor, owned by the
 * caller, or -errno. */
int statedir_make(int root);

/* --- what a kill has left: files that were being written (struct tmpfile) ----------- */

/* Return: whether the name is that of such a file. */
bool is_temporary_name(const char *name);

/* Removes those of the domain; those in the run-time directory go with the seed. */
void abandoned_remove(int root, const char *uuid);
