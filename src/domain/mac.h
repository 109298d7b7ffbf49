/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MACs of the domain's network interfaces. */
#pragma once

#include <stdbool.h>

#include "domain/domain.h"

/*
 * Return: whether it is known that no interface of the domain has that MAC. It is not known
 * where an interface has none yet (libvirt gives it one), or where a host's device is
 * passed through, which may be a NIC.
 */
bool mac_is_missing(const struct domain *domain, const char *mac);
