/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wiring's serial: the SMBIOS system serial number, by which cloud-init knows its
 * datasource before it has seen a disk (ds-identify, check NoCloud).
 */
#pragma once

#include "wire/wiring.h"

/* Adds our word to the serial, behind a serial that the user set; nothing where the
 * request says serial="no" or the architecture has no SMBIOS. */
int wire_serial(struct domain *domain, const struct request *request,
                const struct wire_options *options, struct wiring *wiring,
                struct failure **failure);

void wire_remove_serial(struct domain *domain, struct wiring *wiring);

/*
 * The word that the shim is to put behind the user's serial; "" where there is none to be.
 * Return: a literal; or NULL for a serial that ours cannot stand in.
 */
const char *wire_shim_serial(const struct domain *domain, const struct request *request,
                             struct failure **failure);
