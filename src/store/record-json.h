/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record as JSON: record.c's own. */
#pragma once

#include "seed/json.h"
#include "store/record.h"

/* Return: the record as a JSON object, owned by the caller (cleanup_json). */
json_t *record_to_json(const struct record *record);

/* Reads the record from the JSON object, which it owns then, for what is not known. */
void record_from_json(struct record *record, json_t *json);
