/* SPDX-License-Identifier: GPL-2.0-or-later */
/* <instance-id>: its policy, and what belongs to it. */
#pragma once

#include <libxml/tree.h>

#include "base/failure.h"

/* Reads the element into `data`, a request; for the rows of request-elements.c. */
int request_read_instance_id(void *data, const xmlNode *node, struct failure **failure);
