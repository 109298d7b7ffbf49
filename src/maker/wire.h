/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wires a domain for its own request, as its host is configured. */
#pragma once

#include "domain/domain.h"
#include "host/configuration.h"
#include "host/need.h"
#include "host/verdict.h"
#include "wire/wire.h"

/* Adds what the host must know of the disks for that, and for a start. */
void need_labels(const struct domain *domain, struct needs *needs);
/* Moves the answers into the disks. */
void take_labels(struct domain *domain, const struct needs *needs);

/*
 * Wires the domain, whose disks' labels have been read. The configuration is empty for
 * another host's domain. The options need no address.
 */
int maker_wire(struct domain *domain, const struct config *config,
               struct wire_options options, struct wiring *wiring,
               struct failure **failure);

/* The same for a definition that must ask for a seed: asks the host for the labels first.
 * The result must be empty. */
int maker_wire_definition(const struct buffer *xml, const struct config *config,
                          const struct host *host, struct maker_result *result,
                          struct failure **failure);
