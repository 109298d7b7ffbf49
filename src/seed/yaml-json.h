/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML and JSON: YAML's values in jansson's types, and JSON for readers of YAML. */
#pragma once

#include "base/buffer.h"
#include "seed/json.h"
#include "seed/yaml.h"

/*
 * Reads YAML as values: timestamps are text, a key is the text that was written, merge keys
 * ('<<') are applied, and an alias is what it stands for. What JSON cannot hold is refused:
 * bytes, numbers beyond 64 bits or without a value (.nan), NUL in text, the same key twice.
 *
 * Return: the value, null if there is none, owned by the caller (cleanup_json), or NULL. Of a
 * YAML_STREAM it is an array of the documents.
 */
json_t *yaml_load(const char *data, size_t size, enum yaml_shape shape,
                  struct failure **failure);

/*
 * Appends the value as JSON that is YAML as well: what JSON may hold as it is, and YAML may
 * not (control characters) or would take for a line's end (U+0085, U+2028, U+2029), is
 * written as \uXXXX, which both read.
 */
void yaml_text_append(struct buffer *buffer, const json_t *json);
