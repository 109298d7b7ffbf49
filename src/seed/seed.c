/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "seed/check-part.h"
#include "seed/datasource.h"
#include "seed/seed.h"

/* oVirt's payload (domain/payload.h), file by file. */
static int
payload_make(struct seed *seed, struct request *request, struct failure **failure)
{
    struct payload *payload = request->payload;

    (void)failure;
    seed->volume_id = xstrdup(payload->volume_id);
    for (size_t i = 0; i < payload->file_count; i++)
        seed_add_document(seed, payload->files[i].path)->data =
            steal_buffer(&payload->files[i].data);
    return 0;
}

/* A datasource is one file in this folder, declared in datasource.h, and one row here. */
static int (*const makers[])(struct seed *seed, struct request *request,
                             struct failure **failure) = {
    [DATASOURCE_NOCLOUD] = nocloud_make,
    [DATASOURCE_NOCLOUD_NET] = nocloud_net_make,
    [DATASOURCE_CONFIGDRIVE] = configdrive_make,
    [DATASOURCE_PAYLOAD] = payload_make,
};

int
seed_check(const struct request *request, struct failure **failure)
{
    for (size_t i = 0; i < request->parts.count; i++) {
        if (check_part(request, request->parts.list[i], failure) < 0)
            return -1;
    }
    return 0;
}

int
seed_make(struct seed *seed, struct request *request, struct failure **failure)
{
    size_t size = 0;

    *seed = (struct seed){0};
    if (makers[request->datasource](seed, request, failure) < 0)
        return -1;
    for (size_t i = 0; i < seed->document_count; i++)
        size += seed->documents[i].data.size;
    if (size <= LIMIT_SEED)
        return 0;
    failure_set(failure, FAILURE_LIMIT, "the seed has %zu bytes, at most %lu", size,
                LIMIT_SEED);
    return failure_hint(failure, "let the guest fetch large files itself");
}

struct document *
seed_add_document(struct seed *seed, const char *path)
{
    struct document *document;

    seed->documents = xreallocarray(seed->documents, seed->document_count + 1,
                                    sizeof(*seed->documents));
    document = &seed->documents[seed->document_count++];
    *document = (struct document){.path = xstrdup(path)};
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

bool
document_is_same(const struct document *one, const struct document *other)
{
    return one->data.size == other->data.size &&
           (one->data.size == 0 ||
            memcmp(one->data.data, other->data.data, one->data.size) == 0);
}

bool
seed_is_same(const struct seed *one, const struct seed *other)
{
    if (strcmp(one->volume_id, other->volume_id) != 0 ||
        one->document_count != other->document_count)
        return false;
    for (size_t i = 0; i < one->document_count; i++) {
        const struct document *document = &one->documents[i];
        const struct document *same = seed_find_document(other, document->path);

        if (!same || !document_is_same(document, same))
            return false;
    }
    return true;
}

void
seed_clear(struct seed *seed)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        free(seed->documents[i].path);
        buffer_clear(&seed->documents[i].data);
    }
    free(seed->documents);
    free(seed->volume_id);
    *seed = (struct seed){0};
}
