/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "seed/network-config.h"
#include "seed/nocloud.h"
#include "seed/seed.h"
#include "seed/user-data.h"

/* A datasource is one file in this folder and one row here. */
static int (*const makers[])(struct seed *seed, const struct domain *domain,
                             struct request *request, struct failure **failure) = {
    [DATASOURCE_NOCLOUD] = nocloud_make,
};

int
seed_check_part(const struct part *part, struct failure **failure)
{
    cleanup_free char *description = part_describe(part);
    int result = 0;

    if (part->data.size == 0)
        return 0;
    if (part->kind == PART_NETWORK_CONFIG)
        result = network_config_check(part->data.data, part->data.size, failure);
    else
        result = user_data_check(part->data.data, part->data.size, failure);
    if (result < 0) {
        failure_prefix(failure, "%s", description);
        failure_at_line(failure, part->line);
    }
    return result;
}

int
seed_check(const struct request *request, struct failure **failure)
{
    for (enum part_kind kind = PART_USER_DATA; kind < PART_KINDS; kind++) {
        if (seed_check_part(&request->parts[kind], failure) < 0)
            return -1;
    }
    return 0;
}

static int
check_size(const struct seed *seed, struct failure **failure)
{
    size_t size = 0;

    for (size_t i = 0; i < seed->document_count; i++)
        size += seed->documents[i].data.size;
    if (size <= LIMIT_SEED)
        return 0;
    return failure_set(failure, FAILURE_LIMIT, "the seed has %zu bytes, at most %lu",
                       size, LIMIT_SEED);
}

int
seed_make(struct seed *seed, const struct domain *domain, struct request *request,
          struct failure **failure)
{
    *seed = (struct seed){0};
    if (makers[request->datasource](seed, domain, request, failure) < 0)
        return -1;
    return check_size(seed, failure);
}

struct document *
seed_add_document(struct seed *seed, const char *path)
{
    struct document *document = &seed->documents[seed->document_count++];

    assert(seed->document_count <= SEED_DOCUMENTS_MAX);
    document->path = path;
    return document;
}

const struct document *
seed_find_document(const struct seed *seed, const char *path)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        if (strcmp(seed->documents[i].path, path) == 0)
            return &seed->documents[i];
    }
    return NULL;
}

void
seed_clear(struct seed *seed)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        buffer_clear(&seed->documents[i].data);
        free(seed->documents[i].secret);
    }
    *seed = (struct seed){0};
}
