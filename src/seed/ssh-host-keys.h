/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host keys of the guest's sshd: the files ssh_host_TYPE_key, ssh_host_TYPE_key.pub and
 * ssh_host_TYPE_key-cert.pub of a secret, with the same names as in /etc/ssh; TYPE is rsa,
 * ecdsa or ed25519. Also the ed25519 key that virt-seed generates (host/host-key.h).
 */
#pragma once

#include <jansson.h>

#include "domain/part.h"

/* Checks a file's name and kind, and that a public key comes with its private key. No
 * message contains any of its content. */
int ssh_host_key_check(const struct part *part, const struct part_entry *entry,
                       struct failure **failure);

/* Return: cloud-init's ssh_keys, owned by the caller (json_decref). The part must have
 * been checked, or be masked. */
json_t *ssh_host_keys_to_json(const struct part *part);

/*
 * Return: the public keys, a line "ALGORITHM BASE64" for each, owned by the caller (free).
 * The part must have been checked. If there is only a private key, its public key is
 * found if the file is in OpenSSH's own format.
 */
char *ssh_host_keys_public(const struct part *part);

/* Return: whether the text is "ALGORITHM BASE64", a public key of an algorithm above that
 * ssh_key_decode() accepts. */
bool ssh_host_key_is_public(const char *text);

/* --- private keys in OpenSSH's own format (its PROTOCOL.key), without a passphrase --- */

#define OPENSSH_SECRET_SIZE 32

/*
 * Appends the file of the ed25519 key with that secret. `check` is a random number, by
 * which readers recognize that they have decrypted the rest.
 */
void openssh_key_append(struct buffer *buffer, const uint8_t secret[OPENSSH_SECRET_SIZE],
                        uint32_t check);

/* Return: the public key in a private key's file, "ALGORITHM BASE64" as in known_hosts,
 * owned by the caller (free); NULL if the file is in another format. */
char *openssh_key_public(const char *text);
