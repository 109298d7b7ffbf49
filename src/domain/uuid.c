/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/random.h>

#include <nettle/base16.h>
#include <nettle/sha1.h>

#include "domain/uuid.h"

#define UUID_BYTES 16

bool
uuid_read(char uuid[UUID_LENGTH + 1], const char *text)
{
    size_t length = 0;

    for (; *text; text++) {
        if (*text == '-' || isspace((unsigned char)*text))
            continue;
        if (!isxdigit((unsigned char)*text) || length >= UUID_LENGTH)
            break;
        if (UUID_PATTERN[length] == '-')
            uuid[length++] = '-';
        uuid[length++] = (char)tolower((unsigned char)*text);
    }
    uuid[length] = '\0';
    return !*text && length == UUID_LENGTH;
}

static void
format(char uuid[UUID_LENGTH + 1], uint8_t bytes[UUID_BYTES], unsigned int version)
{
    char digits[BASE16_ENCODE_LENGTH(UUID_BYTES) + 1] = "";

    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | version << 4);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    base16_encode_update(digits, UUID_BYTES, bytes);
    uuid_read(uuid, digits);
}

void
uuid_make(char uuid[UUID_LENGTH + 1])
{
    uint8_t bytes[UUID_BYTES];

    /* The kernel always has as few as that. */
    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        abort();
    format(uuid, bytes, 4);
}

void
uuid_make_of_name(char uuid[UUID_LENGTH + 1], const char *space, const char *name)
{
    uint8_t space_bytes[UUID_BYTES] = {0};
    uint8_t digest[SHA1_DIGEST_SIZE];
    struct base16_decode_ctx decoder;
    struct sha1_ctx context;
    size_t done = 0;

    base16_decode_init(&decoder);
    for (size_t i = 0; space[i] && done < UUID_BYTES; i++) {
        if (space[i] != '-' &&
            base16_decode_single(&decoder, &space_bytes[done], space[i]) > 0)
            done++;
    }
    sha1_init(&context);
    sha1_update(&context, UUID_BYTES, space_bytes);
    sha1_update(&context, strlen(name), (const uint8_t *)name);
    sha1_digest(&context, sizeof(digest), digest);
    format(uuid, digest, 5);
}
