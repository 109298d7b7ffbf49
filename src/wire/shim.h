/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Domains whose <emulator> is virt-seed-qemu: it adds the cdrom, the serial and the
 * report's channel to QEMU's command line, so that their XML must have none of them.
 */
#pragma once

#include "wire/wire.h"

/* Return: the shim's path for the domain's emulator, owned by the caller (free). */
char *wire_shim_emulator(const struct domain *domain);

/* Return: whether the shim, as the emulator, could give a guest what the request asks for. */
bool wire_shim_can(const struct request *request);

/* What wire_domain() does for such a domain: takes away what the shim adds. */
int wire_shim(struct domain *domain, const struct request *request,
              const struct wire_options *options, struct wiring *wiring,
              struct failure **failure);

/* Return: whether the domain's emulator is the shim, and is to add the report's channel. The
 * domain's XML alone decides. */
bool wire_shim_reports(const struct domain *domain, const struct request *request);

/*
 * The word that the shim is to put behind the user's serial; "" where there is none to be.
 * Return: a literal; or NULL for a serial that ours cannot stand in.
 */
const char *wire_shim_serial(const struct domain *domain, const struct request *request,
                             struct failure **failure);
