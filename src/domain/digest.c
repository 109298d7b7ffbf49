/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <assert.h>
#include <stdint.h>

#include <nettle/base16.h>
#include <nettle/sha2.h>

#include "base/memory.h"
#include "domain/digest.h"
#include "host/documents.h"

static_assert(DIGEST_LENGTH == BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE),
              "a digest in hexadecimal");

char *
digest_make(const struct buffer *content)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx context;
    char *text = xcalloc(1, DIGEST_LENGTH + 1);

    sha256_init(&context);
    sha256_update(&context, content->size, (const uint8_t *)content->data);
    sha256_digest(&context, sizeof(digest), digest);
    base16_encode_update(text, sizeof(digest), digest);
    return text;
}
