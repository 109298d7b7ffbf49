/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The request's own metadata (KubeVirt's VEP 100): its entries, every key of its secrets,
 * the mapping of its file, flat beside the generated keys. The guest asks for them with
 * 'cloud-init query ds.meta_data.KEY'.
 */
#pragma once

#include <jansson.h>

#include "domain/request.h"

/* A key that virt-seed generates, and the element that sets it (NULL: none does). */
struct custom_owner {
    const char *key;
    const char *element;
};

/*
 * Adds them to the generated object. A key that has an owner, or that is there twice, is
 * an error which names the key and who gives it. `owners` ends with a NULL key.
 */
int custom_meta_data_add(json_t *object, const struct request *request,
                         const struct custom_owner *owners, struct failure **failure);
