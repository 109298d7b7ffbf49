/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that read oVirt's documents share. */
#pragma once

#include <libxml/tree.h>

#include "import/import.h"

/* Sets a failure with the element's path ("/vm/initialization/timezone") in front. */
int ovirt_fail(const xmlNode *node, const char *message, const char *hint,
               struct failure **failure);

/* Reads the payload of a domain's XML, which becomes the element's parts. */
int ovirt_read_payload(struct import *import, xmlDoc *doc, struct failure **failure);
