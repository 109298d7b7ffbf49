/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A value of a manifest, and where it stands: what messages name, as people write it
 * ("spec.volumes[2].name"). A field that is not there, or is null, has no value: what is
 * looked for below it is not there either.
 */
#pragma once

#include "base/failure.h"
#include "base/memory.h"
#include "seed/json.h"

struct manifest {
    const json_t *value; /* borrowed from the document; NULL where there is none */
    char *path;          /* owned */
};

/* Gets a field of a mapping, which must have that type where it is there. */
int manifest_get(struct manifest *field, const struct manifest *parent, const char *key,
                 json_type type, struct failure **failure);
/* The same for an item of a list, which must be there. */
int manifest_get_item(struct manifest *item, const struct manifest *parent, size_t index,
                      json_type type, struct failure **failure);
/* The same for text: NULL where it is not there, or empty; borrowed from the document. */
int manifest_get_text(const char **text, const struct manifest *parent, const char *key,
                      struct failure **failure);

/* Return: the field's path, owned by the caller (free). */
char *manifest_path(const struct manifest *parent, const char *key);

/* "PATH MESSAGE", and the hint; of the field `key` where it is not NULL. Return: -1. */
int manifest_fail(const struct manifest *parent, const char *key, const char *message,
                  const char *hint, struct failure **failure);

/* The mapping has no field but those known; NULL ends them. */
int manifest_check_fields(const struct manifest *manifest, const char *const *known,
                          const char *hint, struct failure **failure);

static inline void
manifest_clear(struct manifest *manifest)
{
    free(manifest->path);
}

#define cleanup_manifest __attribute__((cleanup(manifest_clear)))
