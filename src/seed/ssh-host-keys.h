/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys by which the guest's sshd is known: the files ssh_host_TYPE_key,
 * ssh_host_TYPE_key.pub and ssh_host_TYPE_key-cert.pub of a secret, as they stand in
 * /etc/ssh; TYPE is rsa, ecdsa or ed25519. And the ed25519 key that virt-seed makes
 * (store/host-key.h).
 */
#pragma once

#include <stdint.h>

#include <jansson.h>

#include "domain/part.h"

/* Checks one file: its name, its kind, and that a public key has its private one beside
 * it. No message holds any of its content. */
int ssh_host_key_check(const struct part *part, const struct part_entry *entry,
                       struct failure **failure);

/* Return: cloud-init's ssh_keys, owned by the caller (json_decref); the part was checked,
 * or is masked. */
json_t *ssh_host_keys_to_json(const struct part *part);

/*
 * Return: the public keys of those that the part holds, a line "ALGORITHM BASE64" for
 * each, owned by the caller (free); the part was checked. A private key with no public
 * one beside it tells it where its file is of OpenSSH's own form.
 */
char *ssh_host_keys_public(const struct part *part);

/* --- OpenSSH's own form of a private key (its PROTOCOL.key), without a passphrase - */

#define OPENSSH_SECRET_SIZE 32

/*
 * Appends the file of the ed25519 key that the secret's bytes make. `check` is a random
 * number, by which readers see that they have decrypted the rest.
 */
void openssh_key_append(struct buffer *buffer, const uint8_t secret[OPENSSH_SECRET_SIZE],
                        uint32_t check);

/* Return: the public key that is in a private one's file, "ALGORITHM BASE64" as in
 * known_hosts, owned by the caller (free); NULL if the file has another form. */
char *openssh_key_public(const char *text);
