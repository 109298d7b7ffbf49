/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that the guest's own programs must understand, of one line: names, paths, keys. */
#pragma once

#include <stdbool.h>

#include "base/failure.h"
#include "base/limits.h"

/* A user's name, as useradd(8) takes it; not "default", which cloud-init takes for the
 * image's own user. */
bool guest_value_is_user_name(const char *text);
#define GUEST_VALUE_USER_NAME                                                            \
    "at most " DECIMAL(                                                                  \
        LIMIT_USER_NAME) " letters, digits and '_.-', as useradd(8) takes them, "        \
                         "and not 'default'"

/* The name of a file below /usr/share/zoneinfo: "Asia/Jerusalem", "Etc/GMT+1", "UTC". */
bool guest_value_is_timezone(const char *text);

/* "C.UTF-8", "de_DE.UTF-8@euro"; locale(7). */
bool guest_value_is_locale(const char *text);

/* The absolute path of a file: no empty part, no "." and no "..", no control character. */
bool guest_value_is_path(const char *text);

/* http:// or https://, a host, and what may stand in an URL (RFC 3986, section 2). */
bool guest_value_is_url(const char *text);

/*
 * Checks a host name that a person wrote (RFC 952; RFC 1123, section 2.1), one label or
 * several. An address is refused: cloud-init would make
 * "ip-192-0-2-1" of it (DataSource.get_hostname).
 */
int hostname_check(const char *hostname, struct failure **failure);

/*
 * Makes a host name of a domain's name: lower case, what may not be in a label becomes
 * a dash. Where nothing is left, the name is "vm-" and the first digits of the UUID.
 * Return: owned by the caller (free).
 */
char *hostname_from_domain(const char *name, const char *uuid);

/* Checks that the text is one line of an authorized_keys file (sshd(8)): options if any, a
 * key's type, the key. */
int ssh_key_check(const char *text, struct failure **failure);
