/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user-data and vendor-data: what cloud-init recognises them by ("User-data formats" in
 * its documentation; cloudinit/handlers/__init__.py, INCLUSION_TYPES_MAP).
 */
#pragma once

#include <stddef.h>

#include "base/failure.h"

/*
 * Checks that cloud-init would recognise the data and, where it is a cloud-config,
 * could read it as YAML; of gzip, what is in it. Empty data is fine. Messages hold nothing
 * of the data.
 */
int user_data_check(const char *data, size_t size, struct failure **failure);

/* Return: a word for what cloud-init takes the data for: "cloud-config", "script"; "nothing"
 * for empty data and "unknown" for what it would ignore. */
const char *user_data_kind(const char *data, size_t size);
