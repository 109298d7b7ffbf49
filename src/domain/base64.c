/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include <nettle/base64.h>

#include "domain/base64.h"

int
base64_append(struct buffer *buffer, const char *text)
{
    size_t length = strlen(text);
    size_t size = BASE64_DECODE_LENGTH(length);
    struct base64_decode_ctx decoder;
    char *decoded = buffer_reserve(buffer, size);

    base64_decode_init(&decoder);
    if (!base64_decode_update(&decoder, &size, (uint8_t *)decoded, length, text) ||
        !base64_decode_final(&decoder))
        return -1;
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
    return 0;
}
