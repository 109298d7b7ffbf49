/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is looked at in YAML's text itself, because libyaml's events do not tell it. */
#pragma once

#include <stddef.h>

#include "base/failure.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/*
 * Refuses more directives than there can be, and what libyaml takes for a blank and
 * PyYAML does not: a tab, a byte order mark, nothing at all between '|' or '>' and a
 * comment. The data begins behind a mark of its own. What is no YAML may pass.
 */
int yaml_check_source(const char *data, size_t size, struct failure **failure);
