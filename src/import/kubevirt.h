/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that read KubeVirt's manifests share. */
#pragma once

#include "import/import.h"
#include "import/manifest.h"

/* A document of the file, or an item of a List in it. */
struct kubevirt_object {
    struct manifest root;
    const char *kind;      /* borrowed, as the next two */
    const char *name;      /* NULL where it has none */
    const char *namespace; /* NULL where it has none */
};

/* The file: what may be imported, and the Secrets it may refer to. */
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
    const struct kubevirt_object *object;
    const char *name; /* NULL where KubeVirt makes it up */
    const struct kubevirt_file *file;
    struct manifest spec;
    struct manifest annotations;
    struct manifest
        source; /* the first cloud-init volume; no value where there is none */
    bool config_drive;
    bool metadata_server; /* its annotations ask for the IMDS */
    json_t *serial; /* what the serial says to cloud-init: an object of text; owned */
};

/* Notes that the element refers to the secret that the field names. `keys` (NULL ends
 * them) are those of which one must be there; NULL takes every key. */
int kubevirt_refer(struct import *import, const struct kubevirt_machine *machine,
                   const struct manifest *parent, const char *field, const char *name,
                   const char *const *keys, struct failure **failure);

/* Finds the cloud-init volume. */
int kubevirt_find_source(struct kubevirt_machine *machine, struct failure **failure);

/* The element's parts from the cloud-init volume. */
int kubevirt_add_source(struct import *import, const struct kubevirt_machine *machine,
                        struct failure **failure);
