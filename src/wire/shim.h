/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Domains whose <emulator> is virt-seed-qemu: it adds the cdrom, the serial and the
 * report's channel to QEMU's command line, so that their XML must have none of them.
 */
#pragma once

#include "domain/request.h"

/* Return: the shim's path for the domain's emulator, owned by the caller (free). */
char *wire_shim_emulator(const struct domain *domain);

/* Return: whether the shim, as the emulator, could give a guest what the request asks for. */
bool wire_shim_can(const struct request *request);

/* Fails where it could not. */
int wire_shim_check(const struct request *request, struct failure **failure);
