/* SPDX-License-Identifier: GPL-2.0-or-later */
/* network-config, version 1 or 2 ("Network configuration" in cloud-init's
 * documentation). */
#pragma once

#include <stddef.h>

#include "base/failure.h"
#include "domain/domain.h"

/*
 * Checks that it is YAML with a version that cloud-init knows, with or without the
 * wrapping `network:`; or the words that switch it off, `config: disabled`.
 */
int network_config_check(const char *data, size_t size, struct failure **failure);

/*
 * The same for ConfigDrive's network_data.json: strict JSON with its lists, at most
 * LIMIT_NICS links, in each object the texts that cloud-init indexes. A link whose
 * address is none of the domain's interfaces' (domain/interface.h), or that has neither address
 * nor name, is an error, as it is for the guest (cloud-init's convert_net_json raises).
 */
int network_data_check(const char *data, size_t size, const struct domain *domain,
                       struct failure **failure);
