/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meta-data: who the guest is. Written as JSON, which is YAML that cannot be misread,
 * and the one form that every reader of NoCloud takes.
 */
#pragma once

#include "base/buffer.h"
#include "domain/domain.h"
#include "domain/request.h"

/*
 * Writes NoCloud's meta-data: instance-id, local-hostname, public-keys, and the
 * request's own entries; an entry with the name of a generated key is an error.
 */
int meta_data_write_nocloud(struct buffer *buffer, const struct domain *domain,
                            const struct request *request, struct failure **failure);

/* Return: the instance-id that the policy gives, owned by the caller (free). */
char *meta_data_instance_id(const struct domain *domain, const struct request *request);
