/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/failure.h"

/*
 * Refuses the start of a guest that would ask for its seed where nobody listens: it would come
 * up as a new machine. The address is that of its URL (seed-url.h). Who listens is not asked,
 * and no packet is sent; an address that no interface has yet is none the worse for it. Where
 * the kernel does not say, as it does not to an ordinary user of port 80, or where SELinux keeps
 * the caller from that, it may be that somebody does.
 */
int listening_check(const char *url_address, struct failure **failure);
