/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents for readers of YAML, written as JSON: YAML that cannot be misread. */
#pragma once

#include <jansson.h>

#include "base/buffer.h"

/*
 * Appends the value as JSON that is YAML as well: what JSON may hold as it is, and YAML may
 * not (control characters) or would take for a line's end (U+0085, U+2028, U+2029), is
 * written as \uXXXX, which both read.
 */
void yaml_text_append(struct buffer *buffer, const json_t *json);
