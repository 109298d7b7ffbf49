/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML as the guest reads it: PyYAML's safe_load, whose grammar libyaml is (YAML 1.1).
 * What safe_load would raise on is a failure here; nothing is built in memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"

enum yaml_root {
    YAML_MAPPING,
    YAML_SEQUENCE,
};

/* A value that the caller asks for, by the keys that lead to it; NULL ends them. */
struct yaml_query {
    const char *path[3];
    char *value; /* NULL where there is no scalar; owned by the caller (free) */
    bool found;  /* whether there is one, a scalar or not */
    bool plain;  /* without quotes or a tag: it may be a number */
};

/*
 * Reads one document, whose root must be of the given kind, or be empty. The message
 * has the line within the data, and nothing of its content.
 */
int yaml_read(const char *data, size_t size, enum yaml_root root,
              struct yaml_query *queries, size_t query_count, struct failure **failure);
