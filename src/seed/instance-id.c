/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <endian.h>

#include <nettle/base16.h>

#include "seed/seed.h"
#include "seed/writers.h"

/* The bytes of the digest that are in the id: enough to tell a domain's instances apart,
 * and short enough for the name of a directory. */
#define DIGEST_BYTES 8

/* Return: the documents that the part becomes, or becomes a piece of. */
static unsigned int
covers_of(const struct part *part)
{
    switch (part->kind) {
    case PART_USER_DATA:
    case PART_VALUE:
        return COVER_USER_DATA;
    case PART_SSH_HOST_KEYS:
        if (part->origin != PART_GENERATED)
            return COVER_USER_DATA;
        break;
    case PART_VENDOR_DATA:
        return COVER_VENDOR_DATA;
    case PART_NETWORK_CONFIG:
        return COVER_NETWORK_CONFIG;
    case PART_META_DATA:
    case PART_ADMIN_PASSWORD:
        return COVER_META_DATA;
    case PART_SSH_KEYS:
    case PART_PASSWORD:
    case PART_ROOT_PASSWORD:
        break;
    }
    return 0;
}

void
instance_id_begin(struct instance_id *id, const struct request *request)
{
    *id = (struct instance_id){.request = request};
    if (request->covers == 0)
        return;
    sha256_init(&id->digest);
    for (size_t i = 0; i < request->parts.count; i++) {
        const struct part *part = request->parts.list[i];

        id->masked = id->masked || (part->masked && (request->covers & covers_of(part)));
    }
}

void
instance_id_add(struct instance_id *id, enum request_cover cover, const char *name,
                const struct buffer *data)
{
    uint64_t size = htobe64(data->size);

    if (!(id->request->covers & cover) || data->size == 0)
        return;
    sha256_update(&id->digest, strlen(name) + 1, (const uint8_t *)name);
    sha256_update(&id->digest, sizeof(size), (const uint8_t *)&size);
    sha256_update(&id->digest, data->size, (const uint8_t *)data->data);
}

void
instance_id_add_json(struct instance_id *id, enum request_cover cover, const char *name,
                     const json_t *object)
{
    cleanup_buffer struct buffer text = {0};
    cleanup_free char *dump = NULL;

    if (!(id->request->covers & cover))
        return;
    dump = xchecked(json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS));
    buffer_append_string(&text, dump);
    instance_id_add(id, cover, name, &text);
}

char *
instance_id_end(struct instance_id *id)
{
    const struct request *request = id->request;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text[BASE16_ENCODE_LENGTH(DIGEST_BYTES)];

    switch (request->instance_id_policy) {
    case INSTANCE_ID_FIXED:
        return xstrdup(request->instance_id);
    case INSTANCE_ID_CONTENT:
        if (id->masked)
            return xstrdup(INSTANCE_ID_MASK);
        sha256_digest(&id->digest, sizeof(digest), digest);
        base16_encode_update(text, DIGEST_BYTES, digest);
        return xasprintf("%s-%.*s", request->domain->uuid, (int)sizeof(text), text);
    case INSTANCE_ID_DOMAIN:
        break;
    }
    return xstrdup(request->domain->uuid);
}
