/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libyaml's events of a text, one after another: what all that read YAML here share. */
#pragma once

#include <stddef.h>

#include <yaml.h>

#include "base/failure.h"

/*
 * Calls `take` with each event; what it returns other than 0 ends the walk. The text is read
 * as UTF-8, as the guest reads it, behind a byte order mark at its begin; what PyYAML does
 * not read is refused (yaml-source.h), and so are more than LIMIT_YAML_EVENTS events.
 * Return: 0, or -1; the message has the line within the text, and nothing of it.
 */
int yaml_walk(const char *text, size_t size,
              int (*take)(void *data, const yaml_event_t *event,
                          struct failure **failure),
              void *data, struct failure **failure);
