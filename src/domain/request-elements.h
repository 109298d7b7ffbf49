/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The elements that may stand below <cloud-init>: each has a row in a table. */
#pragma once

#include "domain/request.h"

/* Reads those below the element into the request. */
int request_read_elements(struct request *request, const xmlNode *node,
                          struct failure **failure);
