/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UUID.shim, what the hook leaves for the shim: one line, the word to add to the SMBIOS
 * serial, or nothing. store/rundir.h writes it.
 */
#pragma once

#include "base/failure.h"

/*
 * Reads the domain's. It must be a file of the directory's owner's, which nobody else may
 * write.
 * Return: the line without its end, owned by the caller (free), or NULL.
 */
char *order_read(int root, const char *uuid, struct failure **failure);
