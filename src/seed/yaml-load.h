/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML as values in memory: what PyYAML's safe_load makes of it, in jansson's types.
 *
 * Plain scalars become null, booleans, numbers or text by YAML 1.1's rules (`yes` is true,
 * `010` is 8); timestamps stay text, and a key is the text that stands there. Merge keys
 * (`<<`) are applied. An alias is the same value as its anchor, shared and never copied.
 * What JSON cannot hold is refused: bytes, sets, numbers that are none or beyond 64 bits, a
 * structure that holds itself, NUL in text.
 *
 * At most LIMIT_PART bytes are taken, and the LIMIT_YAML_… of base/limits.h hold; so does
 * LIMIT_YAML_DEPTH with aliases followed. A message has the line within the data, and
 * nothing of its content.
 */
#pragma once

#include <stddef.h>

#include "base/failure.h"
#include "seed/json.h"

enum yaml_keys {
    YAML_KEYS_LAST, /* of a key that is there twice the last value counts: safe_load's way */
    YAML_KEYS_UNIQUE, /* it is a failure */
};

/*
 * Reads one document.
 * Return: its value, null where there is none, owned by the caller (cleanup_json), or NULL.
 */
json_t *yaml_load(const char *data, size_t size, enum yaml_keys keys,
                  struct failure **failure);

/* Reads all documents of a stream. Return: an array of them, owned by the caller, or NULL. */
json_t *yaml_load_all(const char *data, size_t size, enum yaml_keys keys,
                      struct failure **failure);
