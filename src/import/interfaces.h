/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network in the form of interfaces(5). */
#pragma once

#include <libxml/tree.h>

#include "base/base.h"

/* Adds the network to <initialization>, as oVirt's elements. What they cannot express is an
 * error that names the line. */
int interfaces_import(xmlNode *initialization, const struct buffer *data,
                      struct failure **failure);
