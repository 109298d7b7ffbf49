/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jansson's values, released by scope. */
#pragma once

#include <jansson.h>

static inline void
json_decref_pointer(json_t **json)
{
    json_decref(*json);
}

#define cleanup_json __attribute__((cleanup(json_decref_pointer)))
