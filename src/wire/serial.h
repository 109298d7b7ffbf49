/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wiring's serial: the SMBIOS system serial number, by which cloud-init knows its
 * datasource before it has seen a disk (ds-identify, check NoCloud).
 */
#pragma once

#include "wire/wire.h"

/* Adds our word to the serial, behind a serial that the user set; nothing where the
 * request says serial="no" or the architecture has no SMBIOS. */
int wire_serial(struct domain *domain, const struct request *request,
                const struct wire_options *options, struct wiring *wiring,
                struct failure **failure);

void wire_remove_serial(struct domain *domain, struct wiring *wiring);
