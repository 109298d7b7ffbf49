/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries with fields of their own in systemd's journal, by its documented protocol
 * (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/): one datagram to a socket. libsystemd, which
 * does the same, would be loaded with five more libraries at each start of a program, and
 * costs a lifecycle operation a fifth of its instructions.
 */
#pragma once

#include <stddef.h>

struct journal_field {
    const char *name;  /* upper case letters, digits and underscores */
    const char *value; /* NULL: there is no such field */
};

/*
 * Adds an entry to the journal of the host whose "/" is the directory `root`. Of a value at
 * most LIMIT_MESSAGE bytes are taken; what is no UTF-8, and control characters, become '?'.
 * Nothing in a value can be taken for another field. A journal that does not take it at once
 * is not waited for.
 * Return: 0 or -errno; -ENOENT or -ECONNREFUSED where there is no journal.
 */
int journal_send(int root, const struct journal_field *fields, size_t count);
