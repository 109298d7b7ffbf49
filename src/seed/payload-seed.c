/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/memory.h"
#include "seed/payload-seed.h"

int
payload_seed_make(struct seed *seed, struct request *request, struct failure **failure)
{
    struct payload *payload = request->payload;

    (void)failure;
    seed->volume_id = xstrdup(payload->volume_id);
    for (size_t i = 0; i < payload->file_count; i++)
        seed_add_document(seed, payload->files[i].path)->data =
            steal_buffer(&payload->files[i].data);
    return 0;
}
