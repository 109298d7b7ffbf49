/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One-line values that the guest's programs must understand: names, paths, keys. */
#pragma once

#include "base/base.h"

/* A user name that useradd(8) accepts; not "default", which cloud-init takes for the
 * image's default user. */
bool guest_value_is_user_name(const char *text);
#define USER_NAME_RULE                                                                   \
    "at most " DECIMAL(                                                                  \
        LIMIT_USER_NAME) " letters, digits and '_.-', as useradd(8) accepts them, "      \
                         "and not 'default'"

/* The name of a file below /usr/share/zoneinfo: "Asia/Jerusalem", "Etc/GMT+1", "UTC". */
bool guest_value_is_timezone(const char *text);

/* "C.UTF-8", "de_DE.UTF-8@euro"; locale(7). */
bool guest_value_is_locale(const char *text);

/* An absolute path: no empty component, no "." or "..", no control character. */
bool guest_value_is_path(const char *text);

/* http:// or https://, a host, and the characters of a URL (RFC 3986, section 2). */
bool guest_value_is_url(const char *text);

/*
 * Checks a host name that a user wrote (RFC 952; RFC 1123, section 2.1), of one or more
 * labels. An address is refused: cloud-init would turn it into "ip-192-0-2-1"
 * (DataSource.get_hostname).
 */
int hostname_check(const char *hostname, struct failure **failure);

/*
 * Turns a domain's name into a host name: in lower case, with a dash for each character
 * that a label may not contain, or with `by_byte` for each byte of it. If nothing is left,
 * it is "vm-" and the first digits of the UUID. Return: owned by the caller (free).
 */
char *hostname_from_domain(const char *name, const char *uuid, bool by_byte);

/* Checks that the text is one line of an authorized_keys file (sshd(8)): options, if any,
 * the key's type, and what looks like the key. ssh_key_decode() knows whether it is one; a
 * start is not refused for that. */
int ssh_key_check(const char *text, struct failure **failure);

/*
 * Return: the next key in the lines of an authorized_keys file, which strsep() splits, or
 * NULL; it omits empty lines, comments, blanks before the key and a carriage return at its
 * end. Counts the lines.
 */
char *ssh_key_next(char **rest, int *number);
