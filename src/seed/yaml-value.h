/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scalar of YAML means: PyYAML's rules, those of YAML 1.1 (resolver.py and the
 * SafeConstructor of constructor.py), as far as JSON can hold the value.
 */
#pragma once

#include <yaml.h>

#include "base/failure.h"
#include "seed/json.h"

/*
 * Plain scalars become null, booleans, numbers or text, quoted ones text, and one with a
 * tag ('!!int') what the tag says. Timestamps stay text. A number is exact, or refused.
 * Return: the value, owned by the caller (cleanup_json), or NULL; the message has the line,
 * and nothing of the scalar.
 */
json_t *yaml_scalar_value(const yaml_event_t *event, struct failure **failure);
