/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that read KubeVirt's manifests. */
#pragma once

#include "base/json.h"
#include "import/import.h"

/*
 * A value of a manifest and its path for messages ("spec.volumes[2].name"). A field that is
 * missing or null has no value, nor has anything below it.
 */
struct manifest {
    const json_t *value; /* borrowed from the document; NULL if there is none */
    char *path;          /* owned */
};

/* Gets a field of a mapping, which must have that type if present. */
int manifest_get(struct manifest *field, const struct manifest *parent, const char *key,
                 json_type type, struct failure **failure);
/* The same for a field below it: "spec.template" is the field of a field. */
int manifest_get_below(struct manifest *field, const struct manifest *parent,
                       const char *keys, json_type type, struct failure **failure);
/* The same for a list item, which must be present, and a mapping. */
int manifest_get_item(struct manifest *item, const struct manifest *parent, size_t index,
                      struct failure **failure);
/* The same for text: NULL if it is missing or empty; borrowed from the document. */
int manifest_get_text(const char **text, const struct manifest *parent, const char *key,
                      struct failure **failure);

/* The same for text that must be there. */
int manifest_require_text(const char **text, const struct manifest *parent,
                          const char *key, const char *hint, struct failure **failure);
/* The same for the name of a secret, which is all that the field has, as "{key: NAME}". */
int manifest_get_reference(const char **name, const struct manifest *parent,
                           const char *field, const char *key, struct failure **failure);

/* Return: the field's path, owned by the caller (free). */
char *manifest_path(const struct manifest *parent, const char *key);

/* Fails with "PATH MESSAGE" and the hint; PATH is the field `key`'s unless that is NULL.
 * Return: -1. */
int manifest_fail(const struct manifest *parent, const char *key, const char *message,
                  const char *hint, struct failure **failure);

/* Checks that the mapping has only known fields; NULL ends the list. */
int manifest_check_fields(const struct manifest *manifest, const char *const *known,
                          const char *hint, struct failure **failure);

static inline void
manifest_clear(struct manifest *manifest)
{
    free(manifest->path);
}

#define cleanup_manifest __attribute__((cleanup(manifest_clear)))

/* A document of the file, or an item of a List in it. */
struct kubevirt_object {
    struct manifest root;
    const char *kind;      /* borrowed, as the next two */
    const char *name;      /* NULL if it has none */
    const char *namespace; /* NULL if it has none */
};

/* The file: virtual machines that can be imported, and the Secrets they can refer to. */
struct kubevirt_file {
    json_t *documents; /* owned */
    struct kubevirt_object *machines;
    size_t machine_count;
    struct kubevirt_object *secrets;
    size_t secret_count;
};

int kubevirt_file_read(struct kubevirt_file *file, const char *data, size_t size,
                       struct import *import, struct failure **failure);

/* Return: the virtual machine of that name, or the only one; NULL on failure. */
const struct kubevirt_object *kubevirt_file_choose(const struct kubevirt_file *file,
                                                   const char *name,
                                                   struct failure **failure);

void kubevirt_file_clear(struct kubevirt_file *file);

/* The chosen machine: what KubeVirt calls the instance. */
struct kubevirt_machine {
    struct import *import;
    const struct kubevirt_object *object;
    const char *name; /* NULL if KubeVirt generates it */
    const struct kubevirt_file *file;
    struct manifest spec;
    struct manifest annotations;
    struct manifest firmware; /* of spec.domain */
    struct manifest source;   /* the first cloud-init volume; no value if there is none */
    bool config_drive;
    bool imds; /* its annotations ask for KubeVirt's metadata server */
};

/* Notes that the element refers to the secret that the field names. It must have one of the
 * two `keys`; NULL takes every key. */
int kubevirt_refer(const struct kubevirt_machine *machine, const struct manifest *parent,
                   const char *field, const char *name, const char *const *keys,
                   struct failure **failure);

/* Finds the cloud-init volume. */
int kubevirt_find_source(struct kubevirt_machine *machine, struct failure **failure);

/* The element's parts from the cloud-init volume. */
int kubevirt_add_source(const struct kubevirt_machine *machine, struct failure **failure);
