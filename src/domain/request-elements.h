/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The elements that may stand below <cloud-init>. */
#pragma once

#include "domain/request.h"

/* Reads one of them into the request; `parent` is what messages name for an unknown one. */
int request_read_element(struct request *request, const xmlNode *parent,
                         const xmlNode *node, struct failure **failure);
