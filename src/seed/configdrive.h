/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ConfigDrive, version 2: OpenStack's "config drive" as cloud-init (sources/
 * DataSourceConfigDrive.py, helpers/openstack.py) and cloudbase-init read it. Only
 * openstack/latest is written: each reader takes it where there is no dated directory.
 */
#pragma once

#include "domain/documents.h"
#include "domain/request.h"

/* A maker, see seed.c. */
int configdrive_make(struct seed *seed, struct request *request,
                     struct failure **failure);
