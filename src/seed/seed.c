/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/limits.h"
#include "seed/seed.h"
#include "seed/writers.h"

/* oVirt's payload is a seed as it stands. */
static int
take_payload(struct seed *seed, struct request *request, struct failure **failure)
{
    (void)failure;
    *seed = *request->payload;
    *request->payload = (struct seed){0};
    return 0;
}

/* A datasource is a file in this folder and its row here. */
static int (*const makers[])(struct seed *seed, struct request *request,
                             struct failure **failure) = {
    [DATASOURCE_NOCLOUD] = nocloud_make,
    [DATASOURCE_NOCLOUD_NET] = nocloud_make,
    [DATASOURCE_CONFIGDRIVE] = configdrive_make,
    [DATASOURCE_PAYLOAD] = take_payload,
};

int
seed_make(struct seed *seed, struct request *request, struct failure **failure)
{
    size_t size = 0;

    *seed = (struct seed){.served = !request_has_disk(request)};
    if (makers[request->datasource](seed, request, failure) < 0)
        return -1;
    for (size_t i = 0; i < seed->document_count; i++)
        size += seed->documents[i].data.size;
    if (size <= LIMIT_SEED)
        return 0;
    return failure_set(failure, FAILURE_LIMIT,
                       "the seed has %zu bytes, at most %lu\n"
                       "let the guest fetch large files itself",
                       size, LIMIT_SEED);
}
