/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that <initialization> gives the guest: <files>. */
#pragma once

#include <libxml/tree.h>

#include "domain/initialization.h"

/* Return: 0, or -1 with a failure that names the element and its line. */
int initialization_read_files(struct initialization *initialization, const xmlNode *node,
                              struct parts *parts, struct failure **failure);
