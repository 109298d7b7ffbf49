/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/failure.h"
#include "domain/seed-url.h"

/*
 * Refuses the start of a guest that would ask for its seed where nobody listens: it would come
 * up as a new machine. Who listens is not asked, and no packet is sent; an address that no
 * interface has yet is none the worse for it. Where the kernel does not say, it may be that
 * somebody does.
 */
int listening_check(const struct seed_url *url, struct failure **failure);
