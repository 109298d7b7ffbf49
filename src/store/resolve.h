/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a request that stand in files and secrets of this host. */
#pragma once

#include "domain/request.h"
#include "store/config.h"

/*
 * Reads the part's bytes, where they are not in the domain's XML; the key of a secret
 * is noted in the part.
 */
int resolve_part(struct part *part, int root, const struct config *config,
                 const struct domain *domain, struct failure **failure);

/* Return: the key of a secret that is looked for first where the request names none. */
const char *resolve_default_key(enum part_kind kind);

/* resolve_part() for every part of the request. */
int resolve_request(struct request *request, int root, const struct config *config,
                    const struct domain *domain, struct failure **failure);
