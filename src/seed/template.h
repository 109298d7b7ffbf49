/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jinja templates in user-data, which the guest's cloud-init renders with its metadata. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"

/* Return: whether the guest's metadata has that key. */
typedef bool template_has_key(const void *data, const char *key);

/*
 * Checks that jinja could render the template: what it refuses in any guest is a failure,
 * with the line, but none of the content except a key of the metadata. With `has_key`, so is
 * such a key with '-', written after a dot, where jinja takes it for a minus.
 */
int template_check(const char *text, size_t size, template_has_key *has_key,
                   const void *data, struct failure **failure);
