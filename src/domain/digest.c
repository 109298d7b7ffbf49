/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>

#include "domain/digest.h"
#include "host/documents.h"

/* What is read at a time. */
#define BLOCK 16384

static_assert(DIGEST_LENGTH == BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE),
              "a digest in hexadecimal");

static char *
finish(struct sha256_ctx *context)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    char *text = xcalloc(1, DIGEST_LENGTH + 1);

    sha256_digest(context, sizeof(digest), digest);
    base16_encode_update(text, sizeof(digest), digest);
    return text;
}

char *
digest_make(const struct buffer *content)
{
    struct sha256_ctx context;

    sha256_init(&context);
    sha256_update(&context, content->size, (const uint8_t *)content->data);
    return finish(&context);
}

char *
digest_make_of_file(int fd)
{
    struct sha256_ctx context;
    uint8_t block[BLOCK];
    ssize_t size;

    if (lseek(fd, 0, SEEK_SET) < 0)
        return NULL;
    sha256_init(&context);
    while ((size = read(fd, block, sizeof(block))) > 0)
        sha256_update(&context, (size_t)size, block);
    return size < 0 ? NULL : finish(&context);
}
