/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The refusal of an unwired domain, and the wiring of it a moment later. */
#pragma once

#include "domain/request.h"
#include "lifecycle/lifecycle.h"
#include "wire/wire.h"

/*
 * Refuses the start, with what is missing and what to type. Where the configuration
 * allows it and libvirt keeps a definition of the domain, a detached `virt-seed wire`
 * is started, which waits for the end of this start and wires the definition. `placed` says
 * whether the start's XML had a place for a seed before that.
 */
int autowire_refuse(const struct lifecycle *lifecycle, const struct request *request,
                    bool placed, const struct wiring *wiring, struct failure **failure);
