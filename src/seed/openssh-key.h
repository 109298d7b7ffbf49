/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys in the form of OpenSSH's files: the private ones by its PROTOCOL.key, without a
 * passphrase; the public ones a line as in known_hosts (RFC 4253, section 6.6; RFC 8709).
 */
#pragma once

#include <stdint.h>

#include "base/buffer.h"

#define OPENSSH_SECRET_SIZE 32

/*
 * Appends the file of the ed25519 key that the secret's bytes make. `check` is a random
 * number, by which readers see that they have decrypted the rest.
 */
void openssh_key_append(struct buffer *buffer, const uint8_t secret[OPENSSH_SECRET_SIZE],
                        uint32_t check);

/* Return: the public key that is in a private one's file, "ALGORITHM BASE64", owned by
 * the caller (free); NULL where the file has another form than OpenSSH's own. */
char *openssh_key_public(const char *text);
