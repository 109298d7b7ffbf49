/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host names: RFC 952 and RFC 1123, section 2.1. */
#pragma once

#include "base/failure.h"

/*
 * Checks a name that a person wrote, one label or several. An address is refused:
 * cloud-init would make "ip-192-0-2-1" of it (DataSource.get_hostname).
 */
int hostname_check(const char *hostname, struct failure **failure);

/*
 * Makes a host name of a domain's name: lower case, what may not be in a label becomes
 * a dash. Where nothing is left, the name is "vm-" and the first digits of the UUID.
 * Return: owned by the caller (free).
 */
char *hostname_from_domain(const char *name, const char *uuid);
