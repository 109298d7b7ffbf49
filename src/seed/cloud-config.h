/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cloud-config that the request's elements amount to: users, passwords, files, ssh's
 * host keys, … of <initialization> and <ssh-host-keys>. What nobody asked for is not in it.
 *
 * The words are those that cloud-init 22.4 and 26.2 both take without a warning.
 */
#pragma once

#include "base/buffer.h"
#include "domain/request.h"
#include "seed/instance-id.h"

/*
 * Writes '#cloud-config' and a mapping, as JSON, which is YAML; nothing where the request
 * has nothing that belongs there. The parts must have been resolved. The custom script is
 * not in it: it is a user-data part of its own (combine.h). The mapping is added to the
 * instance-id.
 */
int cloud_config_write(struct buffer *buffer, const struct request *request,
                       struct instance_id *id, struct failure **failure);
