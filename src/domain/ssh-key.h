/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of an authorized_keys file, read as sshd reads it. */
#pragma once

#include "base/base.h"

/* Bytes of a blob that are not read yet, or those of one string in it. */
struct ssh_bytes {
    const uint8_t *data;
    size_t size;
};

/* Takes a string, which begins with its length (RFC 4251, section 5), from the rest.
 * Return: whether all of it is there. */
bool ssh_read_string(struct ssh_bytes *rest, struct ssh_bytes *string);

/* Return: the blank or the end after the options of the line, in which blanks may be in
 * double quotes (sshkey_advance_past_options() of OpenSSH). */
const char *ssh_key_skip_options(const char *line);

/*
 * Decodes the key of a line that ssh_key_check() has accepted, as sshkey_read() of OpenSSH
 * does: its type must be one that OpenSSH knows, and the bytes must be what a key of this
 * type consists of. Fails if sshd would ignore the line; the message repeats nothing of it.
 * Whether a point is on its curve and whether a certificate's signature is right is not
 * checked.
 */
int ssh_key_decode(const char *line, struct failure **failure);
