/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What virt-seed keeps secret for one domain: files of mode 0600 in
 * /var/lib/virt-seed/secrets/UUID, which has mode 0700.
 *
 *   ssh_host_ed25519_key      the host key that the first start has made (host-key.h)
 *   password, root-password   hashes of the passwords that 'virt-seed set' was given
 *
 * They belong to the UUID: a clone has none of them. To move a domain to another host,
 * copy the directory. `gc` removes it with everything else that is kept for a domain.
 */
#pragma once

#include "host/secret.h"

/* Return: the path of the file, or of the directory if `name` is "", owned by the caller
 * (free). */
char *domain_secret_path(const char *uuid, const char *name);

/* Appends the file's content, at most `limit` bytes. Return: 0; 1 if there is no such
 * file; -1 on failure. */
int domain_secret_read(int root, const char *uuid, const char *name, size_t limit,
                       struct buffer *content, struct failure **failure);

/* Opens the directory, and makes it if it is missing. Return: a descriptor, owned by the
 * caller, or -1. */
int domain_secret_make_directory(int root, const char *uuid, struct failure **failure);
